require "active_record"
require "active_support/all"
require_relative "comb"

ActiveRecord::Base.establish_connection(adapter: "postgresql", host: ENV["PGHOST"], port: ENV["PGPORT"],
                                        username: ENV["PGUSER"], database: ENV["PGDATABASE"])
ActiveRecord::Schema.verbose = false

@activerecord-model@

class Payment < ActiveRecord::Base
end

def dump
  dumped = StringIO.new
  connection = ActiveRecord::Base.connection
  ActiveRecord::SchemaDumper.dump(ActiveRecord.version < Gem::Version.new("7.2") ? connection : connection.pool, dumped)
  dumped.string
end

ActiveRecord::Schema.define do
  @activerecord-schema@
  create_table :payments, id: :uuid, default: -> { "hot_uuid(7)" } do |t|
    t.decimal :amount
  end
end
ActiveRecord::Base.connection.execute(ENV["PAST_ORDERS"])

from = Time.utc(2025, 11, 20)
to = from + 86400
customers = (0...1000).map(&:to_s)
ids = Order.insert_all(customers.map { |customer| { customer: customer } }, returning: :id)
puts "ids #{ids.rows.uniq.size}"
@activerecord-range@
puts "range #{orders.to_a.size}"
puts "times #{orders[20].created_at == from + 20 * 60}"
puts "page #{page.to_a == orders[0, 20].reverse}"
puts "new #{fresh.to_a == orders[21, 1000]}"
puts "untyped #{Order.where(id: from..to).count}"

Payment.create!(amount: 9.99)
puts "shard #{Payment.pick(Arel.sql("hot_shard(id)"))}"

dumped = dump
puts "default #{dumped.include?('default: -> { "comb_uuid()" }')}"
puts "extension #{dumped.include?('enable_extension "comb"')}"
