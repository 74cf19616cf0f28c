# The concern in tables of a schema that was dumped and loaded. Both databases begin without comb.
require "active_record"
require "active_support/test_case"
require "minitest/autorun"
require_relative "comb"

def connect(database)
  ActiveRecord::Base.establish_connection(adapter: "postgresql", host: ENV["PGHOST"], port: ENV["PGPORT"],
                                          username: ENV["PGUSER"], database: database)
end

def dump
  connection = ActiveRecord::Base.connection
  dumped = StringIO.new
  ActiveRecord::SchemaDumper.dump(ActiveRecord.version < Gem::Version.new("7.2") ? connection : connection.pool, dumped)
  dumped.string
end

class CreateOrders < ActiveRecord::Migration[6.1]
  def change
    enable_extension "comb"
    create_table :orders, id: :uuid, default: -> { "comb_uuid()" } do |t|
      t.text :customer, null: false
    end
    create_table :items, id: :uuid, default: -> { "comb_uuid_v7()" } do |t|
      t.references :order, type: :uuid, null: false, foreign_key: true
      t.text :product
    end
    create_join_table :orders, :tags, column_options: { type: :uuid }
    create_table :tags, id: :uuid, default: -> { "comb_uuid()" } do |t|
      t.text :name
    end
  end
end

ActiveRecord::Migration.verbose = false
Time.zone = "UTC"
connect("activerecord_made")
CreateOrders.migrate(:up)
made = dump
CreateOrders.migrate(:down)
abort "The migration leaves tables" unless ActiveRecord::Base.connection.tables.empty?
connect("activerecord_loaded")
eval(made)
abort "The dump makes another schema" unless dump == made
puts "loaded true"

class ChangeOrders < ActiveRecord::Migration[6.1]
  def change
    add_column :orders, :status, :string
    reversible do |direction|
      direction.up { change_column :orders, :customer, :string, limit: 40 }
      direction.down { change_column :orders, :customer, :text }
    end
  end
end

# A tracked table: from ActiveRecord 7.1 on, the dump has the schema of the log, but never the log.
def track
  connection = ActiveRecord::Base.connection
  connection.execute("SELECT comb_track('orders')")
  ChangeOrders.migrate(:up)
  connection.execute("INSERT INTO orders (customer, status) VALUES ('Ada', 'placed')")
  abort "The log does not follow" unless connection.select_value("SELECT max((o.row).status) FROM changes.orders AS o")
  ChangeOrders.migrate(:down)
end

track
tracked = dump
abort "The dump has the log" unless tracked.sub(/ *create_schema "changes"\n+/, "") == made
connect("activerecord_made")
eval(tracked)
track
connect("activerecord_loaded")
puts "tracked true"

class Order < ActiveRecord::Base
  include Comb
  has_many :items, dependent: :destroy
  has_and_belongs_to_many :tags
end

class Item < ActiveRecord::Base
  include Comb
  belongs_to :order
end

class Tag < ActiveRecord::Base
  include Comb
  has_and_belongs_to_many :orders
end

NIL = "00000000-0000-0000-0000-000000000000"
DAY = Time.utc(2025, 11, 20)

def truncate
  ActiveRecord::Base.connection.execute("TRUNCATE orders, items, tags, orders_tags")
end

class CombTest < ActiveSupport::TestCase
  include ActiveRecord::TestFixtures

  setup do
    truncate
    @orders = %w[Ada Grace Edsger].map { |customer| Order.create!(customer: customer) }
    @items = @orders.first(2).map { |order| order.items.create!(product: "tea") }
    @tag = Tag.create!(name: "urgent", orders: @orders.last(2))
    @now = 1.hour.ago..
  end

  test "keys and times" do
    assert_equal [4, 7], [@orders[0].id, @items[0].id].map { |id| id[14].to_i }
    assert_equal @orders, Order.order(:id)
    assert_equal @orders.map(&:created_at), Order.order(:id).pluck(Order.comb_timestamp)
    assert_equal [@orders.first, @orders.last], [Order.first, Order.last]
    assert_nil Order.new.created_at
    assert_nil @orders[0].items.create!(id: SecureRandom.uuid).created_at
    @orders[0].update!(customer: "all")
    assert_equal "all", @orders[0].reload.customer
  end

  test "many rows" do
    ids = Order.insert_all((1..1000).map { |n| { customer: n } }, returning: :id).rows.flatten
    assert_equal ids, Order.where(id: ids).order(:id).pluck(:id)
    seen = 0
    Order.created(@now).find_each(batch_size: 100) { seen += 1 }
    assert_equal 1003, seen
    assert_equal 1003, Order.created(@now).update_all(customer: "all")
  end

  test "ranges" do
    Order.connection.execute("INSERT INTO orders SELECT comb_uuid(at), 'past' FROM generate_series(" \
      "timestamptz '2025-11-19 23:59Z', '2025-11-21Z', '1 minute') AS at")
    Order.connection.execute("ANALYZE orders")
    day = Order.created(DAY...DAY + 1.day)
    assert_equal 1440, day.count
    assert_equal 1441, Order.created(DAY..DAY + 1.day).count
    assert_equal 1, Order.created(...DAY).count
    assert_equal DAY + 20.minutes, day.order(:id).offset(20).first.created_at
    assert_equal [1, 1440, 1, 3], Order.group("date_trunc('day', comb_timestamp(orders.id))").count.sort.map(&:last)
    assert_equal DAY - 1.minute, Order.minimum(Order.comb_timestamp)
    assert_match(/Index Cond/, Order.created(DAY + 23.hours..DAY + 1.day).explain.inspect)
  end

  test "joins" do
    assert_equal 2, Item.joins(:order).created(@now).count
    assert_equal 2, Item.joins(:order).merge(Order.created(@now)).count
    assert_equal 2, Order.joins(:items).created(@now).where(items: { product: "tea" }).count
    assert_equal @orders[0], Order.eager_load(:items).created(@now).order(:id).limit(2).first
    assert_equal 1, Order.left_joins(:items).created(@now).where(items: { id: nil }).count
    assert_equal [1, 1, 0], Order.created(@now).preload(:items).order(:id).map { |order| order.items.size }
    assert_equal({ @orders[0].id => 1, @orders[1].id => 1 }, Order.created(@now).joins(:items).group(:id).count)
    assert_equal 2, Tag.joins(:orders).merge(Order.created(@now)).count
    assert_equal @orders.last(2), @tag.orders.created(@now).order(:id)
    assert_equal @items[0].order, @orders[0]
    assert_equal 2, Order.where(id: Item.created(@now).select(:order_id)).count
    Order.created(@now).destroy_all
    assert_equal 0, Item.count
  end
end

class FeedTest < ActiveSupport::TestCase
  include ActiveRecord::TestFixtures
  self.use_transactional_tests = false

  setup { truncate }
  teardown { truncate }

  test "feed" do
    orders = %w[Ada Grace Edsger].map { |customer| Order.create!(customer: customer) }
    assert_equal orders, Order.new_after(NIL)
    early = Order.create!(id: NIL.sub(/0$/, "1"), customer: "early")
    assert_equal [early, *orders], Order.new_after(NIL)
    assert_equal orders.drop(1), Order.new_after(orders[0].id)
    assert_equal [], Order.joins(:items).new_after(NIL)
    assert_equal [orders[1]], Order.where(customer: "Grace").new_after(NIL)
    Order.transaction { assert_equal [], Order.create!(customer: "open") && Order.new_after(orders[2].id) }
  end
end

class FixtureTest < ActiveSupport::TestCase
  include ActiveRecord::TestFixtures
  respond_to?(:fixture_paths=) ? self.fixture_paths = ["fixtures"] : self.fixture_path = "fixtures"
  fixtures :all

  test "fixtures" do
    assert_equal "tea", orders(:first).items.first.product
    assert_equal orders(:first), items(:tea).order
    assert_nil items(:tea).created_at
    logged = "SELECT count(*) FROM changes.orders WHERE id = '#{orders(:first).id}'"
    assert_equal 0, Order.connection.select_value(logged), "fixtures disable triggers"
  end
end
