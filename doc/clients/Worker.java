import java.nio.file.*;
import java.sql.*;
import java.util.UUID;

/**
 * Sends new events in the order of their ids, each at least once, because the place is stored in a file when they are
 * sent: java Worker jdbc:postgresql:... FILE. One worker at a time uses a file.
 */
class Worker {
    public static void main(String[] arguments) throws Exception {
        Path file = Path.of(arguments[1]), newFile = Path.of(arguments[1] + ".new");
        UUID place = Files.exists(file) ? UUID.fromString(Files.readString(file)) : new UUID(0, 0);
        try (Connection connection = DriverManager.getConnection(arguments[0]);
            PreparedStatement wait = connection.prepareStatement("CALL comb_wait(?, '30 seconds', 'events')");
            PreparedStatement read = connection.prepareStatement(
                "SELECT id, payload FROM events WHERE id >= ? AND id < ? ORDER BY id LIMIT 1001")) {
            while (true) {
                wait.setObject(1, place);
                ResultSet next = wait.executeQuery();
                next.next();
                UUID below = next.getObject(1, UUID.class);
                read.setObject(1, place);
                read.setObject(2, below);
                ResultSet events = read.executeQuery();
                while (events.next()) {
                    UUID id = events.getObject(1, UUID.class);
                    if (events.getRow() > 1000) below = id; // an id is a place, too
                    else System.out.println(id + " " + events.getString(2));
                }
                place = below;
                Files.writeString(newFile, place.toString());
                Files.move(newFile, file, StandardCopyOption.ATOMIC_MOVE);
            }
        }
    }
}
