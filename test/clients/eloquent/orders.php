<?php
require 'Illuminate/Database/autoload.php';
use Illuminate\Database\Capsule\Manager as DB;
use Illuminate\Database\Eloquent\Model;
use Illuminate\Database\QueryException;
use Illuminate\Database\Schema\Blueprint;

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
echo 'saved ', strlen($order->id), "\n";
$order = new NotIncrementing;
$order->customer = 'Grace';
$order->save();
echo 'not-incrementing ', strlen($order->id ?? ''), "\n";

$from = new DateTimeImmutable('2025-11-20T00:00Z');
$to = new DateTimeImmutable('2025-11-21T00:00Z');
// @eloquent-range@
echo 'range ', count($orders), "\n";
echo 'created ', substr($orders[20]->created_at, 0, 19), "\n";
try {
    Order::where('id', '>=', $from->format(DATE_ATOM))->get();
} catch (QueryException $error) {
    echo 'untyped ', $error->getCode(), "\n";
}
