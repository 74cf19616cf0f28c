import java.util.*;
import javax.persistence.*;
import org.hibernate.Session;
import org.hibernate.annotations.Formula;
import org.hibernate.annotations.Type;
import org.hibernate.cfg.Configuration;
import org.hibernate.criterion.Restrictions;

public class Orders {
    @Entity(name = "Placed") @Table(name = "orders")
    public static class Order {
        @Id @Type(type = "pg-uuid") UUID id;
        @Formula("comb_timestamp(id)") Date createdAt;
        // The function of the row, which is read like a column.
        @Column(name = "created_at", insertable = false, updatable = false) Date attribute;
        String customer;
    }

    @Entity(name = "Item") @Table(name = "items")
    public static class Item {
        @Id @Type(type = "pg-uuid") UUID id;
        @ManyToOne(fetch = FetchType.LAZY) @JoinColumn(name = "order_id") Order order;
    }

    static UUID newId(Session session) {
        return UUID.fromString((String) session.createSQLQuery("SELECT CAST(comb_uuid() AS text)").uniqueResult());
    }

    @SuppressWarnings("unchecked")
    public static void main(String[] arguments) {
        Session session = new Configuration().addAnnotatedClass(Order.class).addAnnotatedClass(Item.class)
            .setProperty("hibernate.connection.driver_class", "org.postgresql.Driver")
            .setProperty("hibernate.connection.url", System.getenv("JDBC_URL"))
            .setProperty("hibernate.dialect", "org.hibernate.dialect.PostgreSQLDialect")
            .buildSessionFactory().openSession();
        Date from = new Date(1763596800000L), to = new Date(1763683200000L);
        List<Order> orders = session.createQuery(
            "from Placed o where o.createdAt >= :from and o.createdAt < :to order by o.createdAt")
            .setParameter("from", from).setParameter("to", to).list();
        System.out.println("range " + orders.size());
        System.out.println("created " + orders.get(20).createdAt.toInstant());

        session.beginTransaction();
        Order ada = new Order();
        ada.id = newId(session);
        ada.customer = "Ada";
        session.save(ada);
        for (Order order : Arrays.asList(ada, ada, orders.get(5))) {
            Item item = new Item();
            item.id = newId(session);
            item.order = order;
            session.save(item);
        }
        session.flush();
        session.refresh(ada);
        System.out.println("saved " + (ada.createdAt.after(to) && ada.createdAt.equals(ada.attribute)));
        session.clear();
        List<Item> items = session.createQuery("from Item i join fetch i.order o"
            + " where o.createdAt >= :from and o.attribute >= :from order by o.attribute desc, i.id desc")
            .setParameter("from", from).setFirstResult(1).setMaxResults(2).list();
        System.out.println("join " + items.get(0).order.customer + " " + items.get(1).order.createdAt.toInstant());
        System.out.println("criteria " + session.createCriteria(Order.class)
            .add(Restrictions.ge("createdAt", from)).add(Restrictions.lt("attribute", to)).list().size());
        session.getTransaction().commit();
        session.close();
    }
}
