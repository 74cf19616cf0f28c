import java.sql.*;
import java.time.OffsetDateTime;
import java.util.Properties;
import java.util.stream.IntStream;

class Orders {
    static int rows(ResultSet result) throws SQLException {
        int rows = 0;
        while (result.next()) rows++;
        return rows;
    }

    static int range(Connection connection, Object from, Object to) throws SQLException {
        PreparedStatement range = connection.prepareStatement(
            "SELECT orders.*, orders.created_at FROM orders WHERE orders.created_at >= ? AND orders.created_at < ?");
        range.setObject(1, from);
        range.setObject(2, to);
        ResultSet orders = range.executeQuery();
        return rows(orders);
    }

    static String operator(Connection connection, Object from) throws SQLException {
        PreparedStatement range = connection.prepareStatement("SELECT count(*) FROM orders WHERE id < ?");
        range.setObject(1, from);
        try (ResultSet result = range.executeQuery()) {
            return "works";
        } catch (SQLException error) {
            return error.getSQLState();
        }
    }

    public static void main(String[] arguments) throws SQLException {
        Connection connection = DriverManager.getConnection(System.getenv("JDBC_URL"));
        String[] customers = IntStream.range(0, 1000).mapToObj(Integer::toString).toArray(String[]::new);
        PreparedStatement insert = connection.prepareStatement(
            "INSERT INTO orders (customer) SELECT unnest(?::text[]) RETURNING id");
        insert.setArray(1, connection.createArrayOf("text", customers));
        ResultSet ids = insert.executeQuery();
        System.out.println("ids " + rows(ids));
        OffsetDateTime from = OffsetDateTime.parse("2025-11-20T00:00Z"), to = from.plusDays(1);
        Timestamp from_timestamp = Timestamp.from(from.toInstant()), to_timestamp = Timestamp.from(to.toInstant());
        System.out.println("range " + range(connection, from, to));
        System.out.println("Timestamp " + range(connection, from_timestamp, to_timestamp));
        System.out.println("operators " + operator(connection, from));
        System.out.println("untyped " + operator(connection, from_timestamp));
    }
}
