/* A broker of Kafka in memory, as librdkafka has it for tests. Prints its address, and runs until it is killed. */
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <unistd.h>

int main(void) {
  rd_kafka_t* client = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), NULL, 0);
  rd_kafka_mock_cluster_t* cluster = client ? rd_kafka_mock_cluster_new(client, 1) : NULL;
  if (cluster == NULL) return 1;
  puts(rd_kafka_mock_cluster_bootstraps(cluster));
  fflush(stdout);
  for (;;) pause();
}
