-- cluster_watermark(): the watermark of all tables of a cluster, if nodes make ids (doc/sharding-citus.md). It asks
-- each node, by a table with one shard per node, and waits for what is prepared there. The nodes' watermarks name no
-- tables, because nodes lock shards.
CREATE TABLE cluster_nodes (k int PRIMARY KEY);
SELECT create_distributed_table('cluster_nodes', 'k', colocate_with => 'none',
    shard_count => (SELECT count(*)::int FROM pg_dist_node WHERE groupid > 0 AND noderole = 'primary'));
INSERT INTO cluster_nodes SELECT min(k) FROM generate_series(1, 10000) AS k
GROUP BY get_shard_id_for_distribution_column('cluster_nodes', k);

-- The setting allows the call of comb_watermark() in a session of Citus.
CREATE FUNCTION node_watermark(k int) RETURNS uuid LANGUAGE plpgsql VOLATILE SET application_name = 'watermark' AS $$
BEGIN
    RETURN comb_watermark();
END
$$;
CREATE FUNCTION node_prepared(k int) RETURNS text[] LANGUAGE sql VOLATILE AS $$
    SELECT coalesce(array_agg(gid), '{}') FROM pg_prepared_xacts
    WHERE gid LIKE 'citus\_%' AND database = current_database()
$$;

CREATE FUNCTION cluster_watermark() RETURNS uuid LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    lowest  uuid := comb_watermark();
    of_node uuid;
    gids    text[];
    present text[];
    waiting text[];
BEGIN
    IF EXISTS (SELECT FROM pg_dist_node AS n WHERE groupid > 0 AND noderole = 'primary' AND NOT EXISTS (
                   SELECT FROM pg_dist_shard JOIN pg_dist_placement AS p USING (shardid)
                   WHERE logicalrelid = 'cluster_nodes'::regclass AND p.groupid = n.groupid)) THEN
        RAISE 'a node has no shard of cluster_nodes' USING HINT = 'Create the table again.';
    END IF;
    FOR of_node IN SELECT node_watermark(k) FROM cluster_nodes LOOP
        lowest := least(lowest, of_node);
    END LOOP;
    -- Transactions with ids below may have committed on one node, and be prepared on another.
    LOOP
        present := node_prepared(0);
        FOR gids IN SELECT node_prepared(k) FROM cluster_nodes LOOP
            present := present || gids;
        END LOOP;
        waiting := CASE WHEN waiting IS NULL THEN present
                   ELSE ARRAY(SELECT unnest(waiting) INTERSECT SELECT unnest(present)) END;
        EXIT WHEN waiting = '{}';
    END LOOP;
    RETURN lowest;
END
$$;
