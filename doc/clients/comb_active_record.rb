# Times and a feed of new rows for a model whose key the database makes. Copy this file to app/models/concerns/comb.rb,
# and write `include Comb` in the model.
module Comb
  extend ActiveSupport::Concern

  included do
    # Order.created(1.day.ago..), Customer.joins(:orders).merge(Order.created(from...to))
    scope :created, ->(times) { where(comb_timestamp.between(times)) }

    # New rows above an id, without gaps.
    scope :new_after, lambda { |last|
      where(arel_table[primary_key].gt(last))
        .where("#{quoted_table_name}.#{quoted_primary_key} < (SELECT comb_watermark(?::regclass))", quoted_table_name)
        .order(primary_key).limit(1000)
    }
  end

  class_methods do
    # The time in SQL, as in Order.group(Order.comb_timestamp).
    def comb_timestamp
      Arel::Nodes::NamedFunction.new("comb_timestamp", [arel_table[primary_key]])
    end

    # Whether the table can have random keys, too, of which the time is nil.
    def comb_v7?
      columns_hash[primary_key].default_function == "comb_uuid_v7()"
    end
  end

  def created_at
    return if id.nil? || (self.class.comb_v7? && id[14] != "7")

    Time.at(id.delete("-")[0, 12].hex / 1000r).in_time_zone
  end
end
