<?php
require 'Illuminate/Database/autoload.php';
use Illuminate\Database\Capsule\Manager as DB;
use Illuminate\Database\Eloquent\Model;
use Illuminate\Database\QueryException;
use Illuminate\Database\Schema\Blueprint;
use Illuminate\Support\Carbon;

// Laravel's facade of this name, for a program that uses Eloquent alone.
class Schema
{
    public static function create(...$arguments) { DB::schema()->create(...$arguments); }
}

$database = new DB;
$database->addConnection(['driver' => 'pgsql', 'host' => getenv('PGHOST'), 'port' => getenv('PGPORT'),
    'username' => getenv('PGUSER'), 'database' => getenv('PGDATABASE'), 'charset' => 'utf8']);
$database->setAsGlobal();
$database->bootEloquent();

// @eloquent-schema@
DB::statement(getenv('CREATED_AT'));
DB::statement(getenv('PAST_ORDERS'));
// @eloquent-model@

class Item extends Model
{
    public $timestamps = false;
    protected $guarded = [];
    public function order() { return $this->belongsTo(Order::class); }
}

class NotIncrementing extends Order
{
    protected $table = 'orders';
    public $incrementing = false;
}

$customers = array_map('strval', range(0, 999));
Order::insert(array_map(fn ($customer) => ['customer' => $customer], $customers));
$order = new Order;
$order->customer = 'Ada';
$order->save();
echo 'saved ', strlen($order->id), ' ', var_export($order->created_at == $order->fresh()->created_at, true), "\n";
$order = new NotIncrementing;
$order->customer = 'Grace';
$order->save();
echo 'not-incrementing ', strlen($order->id ?? ''), "\n";

$from = new DateTimeImmutable('2025-11-20T00:00Z');
$to = new DateTimeImmutable('2025-11-21T00:00Z');
// @eloquent-range@
echo 'range ', count($orders), "\n";
echo 'created ', $orders[20]->created_at->toIso8601ZuluString(), "\n";

Schema::create('items', function (Blueprint $table) {
    $table->id();
    $table->foreignUuid('order_id')->constrained();
});
foreach ([5, 6, 6] as $n) Item::create(['order_id' => $orders[$n]->id]);
$since = fn ($query) => $query->where('orders.created_at', '>=', $from->format(DATE_ATOM));
$page = Item::whereHas('order', $since)->with('order')->join('orders', 'orders.id', '=', 'order_id')
    ->latest('orders.created_at')->orderByDesc('items.id')->forPage(2, 2)->get(['items.*']);
echo 'join ', $page[0]->order->created_at->toIso8601ZuluString(), "\n";
echo 'of ', Item::whereHas('order', $since)->count(), "\n";
echo 'latest ', $since(Order::query())->latest('orders.created_at')->first()->customer, "\n";
try {
    Order::where('id', '>=', $from->format(DATE_ATOM))->get();
} catch (QueryException $error) {
    echo 'untyped ', $error->getCode(), "\n";
}
