#include "source.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "failure.hpp"

namespace tail {
namespace {

// A page ends after this many bytes, so that it fits into memory, unless its only row is larger.
constexpr std::size_t most_bytes = 4 << 20;

std::string join(const std::vector<std::string>& all, const char* between) {
  std::string joined;
  for (const std::string& each : all) joined += (joined.empty() ? "" : between) + each;
  return joined;
}

// The smallest id that is larger.
std::string after(std::string id) {
  for (std::size_t i = id.size(); i-- > 0;) {
    if (id[i] == '-') continue;
    if (id[i] != 'f') {
      id[i] = id[i] == '9' ? 'a' : static_cast<char>(id[i] + 1);
      break;
    }
    id[i] = '0';
  }
  return id;
}

// Reads the fields of a row of COPY in binary format.
class binary_row {
 public:
  explicit binary_row(std::string_view data) : left_(data) {
    if (left_.starts_with("PGCOPY\n")) left_.remove_prefix(19);  // the header comes with the first row
    is_end_ = number(2) == 0xffff;
  }
  bool is_end() const { return is_end_; }
  std::string_view field() {
    const std::uint32_t size = number(4);
    const std::string_view value = left_.substr(0, size);
    left_.remove_prefix(value.size());
    return value;
  }

 private:
  std::uint32_t number(int bytes) {
    std::uint32_t value = 0;
    for (int i = 0; i < bytes; ++i) value = value << 8 | static_cast<unsigned char>(left_[static_cast<std::size_t>(i)]);
    left_.remove_prefix(static_cast<std::size_t>(bytes));
    return value;
  }

  std::string_view left_;
  bool is_end_;
};

std::string id_in_text(std::string_view bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    for (const int shift : {4, 0}) text += "0123456789abcdef"[static_cast<unsigned char>(bytes[i]) >> shift & 15];
  }
  return text;
}

bool is_id(const std::string& text) {
  return text.size() == 36 && text.find_first_not_of("0123456789abcdefABCDEF-") == std::string::npos;
}

}  // namespace

source::source(server& connection, const options& given) : server_(connection), given_(given), limit_(given.page) {
  comb_ = server_.value(
      "SELECT quote_ident(n.nspname) || '.' FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace "
      "WHERE p.proname = 'comb_wait' ORDER BY pg_function_is_visible(p.oid) DESC, p.oid LIMIT 1");
  if (comb_.empty()) throw failure{no_table, "comb is not installed in this database: CREATE EXTENSION comb"};
  for (const std::string& each : given.tables) add(each);
  if (given.load) find_loaded(tables_[0]);

  std::vector<std::string> oids, names, checked;
  for (const table& each : tables_) {
    oids.push_back(each.oid);
    names.push_back(each.name);
    checked.push_back(server_.literal(each.quoted) + "::regclass::oid");
  }
  check_ = "ARRAY[" + join(checked, ", ") + "]::text";
  identity_.tables = "{" + join(oids, ",") + "}";
  identity_.names = join(names, " ");
  std::replace(identity_.names.begin(), identity_.names.end(), '\n', ' ');
  waited_ = server_.literal("{" + waited_ + "}") + "::regclass[]";
  identity_.database = server_.value("SELECT oid FROM pg_database WHERE datname = current_database()");
  try {
    identity_.system = server_.value("SELECT system_identifier FROM pg_control_system()");
  } catch (const failure&) {
    identity_.system = "unknown";  // some hosts take the right away
  }
  const std::string milliseconds = server_.value("SELECT setting FROM pg_settings WHERE name = 'statement_timeout'");
  if (milliseconds != "0") most_seconds_ = std::stod(milliseconds) / 2000;
}

void source::add(const std::string& name) {
  const auto rows = server_.query(
      "SELECT c.oid, format('%I.%I', n.nspname, c.relname), c.relkind = 'v', quote_ident(a.attname),"
      "       coalesce(a.atttypid = 'uuid'::regtype, false),"
      "       coalesce(pg_get_expr(d.adbin, d.adrelid) ~ 'hot_uuid\\(', false),"
      "       CASE WHEN c.relkind <> 'v' THEN c.oid::text ELSE"
      "         (SELECT string_agg(DISTINCT u.refobjid::text, ',') FROM pg_rewrite AS r"
      "          JOIN pg_depend AS u ON u.classid = 'pg_rewrite'::regclass AND u.objid = r.oid"
      "            AND u.refclassid = 'pg_class'::regclass AND u.refobjid <> c.oid"
      "          JOIN pg_attribute AS b ON b.attrelid = u.refobjid AND b.attnum = u.refobjsubid"
      "          WHERE r.ev_class = c.oid AND b.attname = a.attname) END "
      "FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace "
      "LEFT JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND a.attname = coalesce("
      "  nullif($2, ''), CASE c.relkind WHEN 'v' THEN 'change' ELSE"
      "  (SELECT p.attname FROM pg_index AS i JOIN pg_attribute AS p ON p.attrelid = c.oid AND p.attnum = i.indkey[0]"
      "   WHERE i.indrelid = c.oid AND i.indisprimary AND i.indnkeyatts = 1) END) "
      "LEFT JOIN pg_attrdef AS d ON d.adrelid = c.oid AND d.adnum = a.attnum "
      "WHERE c.oid = $1::regclass",
      {name, given_.key});
  if (rows.empty()) throw failure{no_table, "table \"" + name + "\" does not exist"};
  const server::row& found = rows[0];
  if (found[3].empty())
    throw failure{no_table,
                  given_.key.empty()
                      ? "table \"" + name + "\" has no primary key of one column; name its column of ids with --key"
                      : "table \"" + name + "\" has no column \"" + given_.key + "\""};
  if (found[4] != "t")
    throw failure{no_table,
                  "column " + found[3] + " of table \"" + name + "\" is no uuid; name a column of ids with --key"};
  if (found[6].empty()) throw failure{no_table, "no table of the view \"" + name + "\" has its column " + found[3]};
  const bool is_hot = given_.hot || found[5] == "t";
  if (!tables_.empty() && is_hot != is_hot_)
    throw failure{no_table, "tables with and without hot ids have no order in common"};
  is_hot_ = is_hot;
  is_view_ = is_view_ || found[2] == "t";
  tables_.push_back({found[0], name, found[1], found[3]});
  waited_ += (waited_.empty() ? "" : ",") + found[6];
}

void source::find_loaded(const table& view) {
  const auto columns = server_.query(
      "SELECT quote_ident(a.attname), quote_ident(n.nspname) || '.' || quote_ident(c.relname), "
      "a.attname IN ('change', 'deleted') "
      "FROM pg_attribute AS a JOIN pg_type AS t ON t.oid = a.atttypid LEFT JOIN pg_class AS c ON c.oid = t.typrelid "
      "AND a.attname = 'row' LEFT JOIN pg_namespace AS n ON n.oid = c.relnamespace "
      "WHERE a.attrelid = $1::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum",
      {view.oid});
  for (const server::row& each : columns) {
    if (!each[1].empty())
      loaded_ = each[1];
    else if (each[2] != "t")
      loaded_key_.push_back(each[0]);
  }
  if (loaded_.empty() || loaded_key_.empty()) throw failure{no_table, "--load needs a view that comb_track() made"};
  is_mark_ = "(t." + join(loaded_key_, " IS NULL OR t.") + " IS NULL)";
}

std::string source::id_of(const std::string& given) {
  if (given == "beginning") return "00000000-0000-0000-0000-000000000000";
  const char* const kind = is_hot_ ? "hot_" : "comb_";
  if (given == "now") return server_.value("SELECT " + comb_ + kind + "watermark(VARIADIC " + waited_ + ")");
  if (is_id(given)) return server_.value("SELECT $1::uuid", {given});
  return server_.value("SELECT " + comb_ + kind + "boundary($1::timestamptz)", {given});
}

bool source::is_above_new_ids(const std::string& id) {
  return server_.value(
             is_hot_ ? "SELECT " + comb_ + "hot_timestamp($1) > " + comb_ + "hot_timestamp(" + comb_ + "hot_uuid(0))"
                     : "SELECT " + comb_ + "comb_timestamp($1) > " + comb_ + "comb_timestamp(" + comb_ + "comb_uuid())",
             {id}) == "t";
}

std::string source::wait(const std::string& from, double seconds) {
  return server_.value("CALL " + comb_ + (is_hot_ ? "hot_wait('" : "comb_wait('") + from + "', '" +
                       std::to_string(std::min(seconds, most_seconds_)) + " seconds', VARIADIC " + waited_ + ")");
}

std::string source::select(const table& from, const std::string& place, const std::string& below) const {
  std::string row;
  if (given_.format != format::json)
    row = given_.columns.empty() ? "t.*" : given_.columns + "\n";
  else if (!given_.columns.empty())
    row = "(SELECT to_jsonb(c.*)::text FROM (SELECT " + given_.columns + "\nFROM (SELECT t.*) AS t) AS c) AS row";
  else if (tables_.size() > 1)
    row = "jsonb_build_object('table', " + server_.literal(from.name) + ", 'row', to_jsonb(t.*))::text AS row";
  else
    row = "to_jsonb(t.*)::text AS row";
  const std::string key = "t." + from.key;
  return "SELECT " + key + " AS key, " + row + (given_.load ? ", " + is_mark_ : "") + " FROM " + from.quoted +
         " AS t WHERE " + key + " >= '" + place + "' AND " + key + " < '" + below + "'" +
         (given_.where.empty() ? "" : " AND (" + given_.where + "\n)") + first_rows(key);
}

// Rows with the same key are never in two pages.
std::string source::first_rows(const std::string& key) const {
  return " ORDER BY " + key + " FETCH FIRST " + std::to_string(limit_) + " ROWS WITH TIES";
}

page source::read(const std::string& from, const std::string& below) {
  // With the SQL flavour, COPY sees the watermark in a view as the session's last transaction did.
  if (is_view_) id_of("now");
  std::vector<std::string> selects;
  for (const table& each : tables_) selects.push_back("(" + select(each, from, below) + ")");
  page read =
      copy(selects.size() == 1 ? selects[0]
                               : "(SELECT * FROM (" + join(selects, " UNION ALL ") + ") AS u" + first_rows("key") + ")",
           false);
  // In another session of a pooler, the watermark in a view can be lower. Its rows are complete up to the last.
  read.next = read.is_last && !is_view_ ? below : read.count > 0 ? after(read.next) : from;
  return read;
}

page source::load(const page* last, const std::string& change) {
  std::string literals;
  for (const std::string& each : loaded_key_) literals += ", quote_literal(r." + each + "::text)";
  const std::string key = "t." + join(loaded_key_, ", t.");
  return copy("(SELECT concat_ws(', '" + literals + "), to_jsonb(r.*)::text, false FROM (SELECT '" + change +
                  "'::uuid AS change, false AS deleted, " + key + ", t.*::" + loaded_ + " AS row FROM " + loaded_ +
                  " AS t" + (last == nullptr ? "" : " WHERE (" + key + ") > (" + last->next + ")") + first_rows(key) +
                  ") AS r)",
              true);
}

page source::copy(const std::string& select, bool is_load) {
  page read;
  read.rows.reserve(most_bytes);  // grown and freed for each page, memory costs a tenth of the time
  const bool is_json = given_.format == format::json;
  std::string last;
  bool is_cut = false;
  const auto take = [&](std::string_view data) {
    std::string_view key = data.substr(0, 36), row, mark;
    if (is_json) {
      binary_row fields(data);
      if (fields.is_end()) return true;
      key = fields.field();
      row = fields.field();
      if (given_.load) mark = fields.field();
    } else {
      row = data.substr(37);  // after the id, which has no quotes, and a comma or tab
    }
    is_cut = read.count > 0 && read.rows.size() + row.size() > most_bytes && key != last;
    if (is_cut) return false;
    last = key;
    read.rows.reserve(read.rows.size() + row.size() + 1);  // so that a large row is not copied for its line break
    read.rows += row;
    if (is_json) read.rows += '\n';
    if (mark == std::string_view("\1", 1)) (read.mark = row) += '\n';
    ++read.count;
    return true;
  };
  const char* const copied = is_json ? "binary" : given_.format == format::csv ? "csv" : "text";
  // COPY has its snapshot before it waits for an ALTER TABLE that rewrites the table, and then sees no row, so the
  // tables are locked before. A sort would begin each page with all rows that follow.
  std::string locks;
  for (const table& each : tables_) locks += "SELECT FROM " + each.quoted + " LIMIT 0; ";
  std::string tables = server_.copy(
      locks + "SET LOCAL enable_sort = off; COPY " + select + " TO STDOUT (FORMAT " + copied + "); SELECT " + check_,
      take);
  // Another table can have taken the name.
  if (is_cut) tables = server_.value("SELECT " + check_);
  if (tables != identity_.tables) throw failure{no_table, identity_.names + " is another table now"};

  read.is_last = !is_cut && read.count < limit_;
  read.next = is_load || !is_json ? last : id_in_text(last);
  if (read.count > 0) {
    const long fitting =
        static_cast<long>(most_bytes * 3 / 4 / (read.rows.size() / static_cast<std::size_t>(read.count) + 1));
    limit_ = std::clamp(fitting, 1L, given_.page);
  }
  return read;
}

std::string source::holders() {
  try {
    return server_.value(
        "SELECT string_agg(coalesce('prepared transaction ' || prepared, 'process ' || pid), ', ' "
        "ORDER BY since) FROM " +
        comb_ + "comb_watermark_holders(VARIADIC " + waited_ + ")");
  } catch (const failure&) {
    return "";  // not all roles see them in the SQL flavour
  }
}

}  // namespace tail
