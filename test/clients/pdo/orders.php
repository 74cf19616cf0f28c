<?php
$connection = new PDO('pgsql:');
$customers = array_map('strval', range(0, 999));
$connection->pgsqlCopyFromArray('orders', $customers, "\t", '\\\\N', 'customer');

$from = new DateTimeImmutable('2025-11-20T00:00Z');
$to = new DateTimeImmutable('2025-11-21T00:00Z');
$range = $connection->prepare(
    'SELECT orders.*, orders.created_at FROM orders WHERE orders.created_at >= ? AND orders.created_at < ?');
$range->execute([$from->format(DATE_ATOM), $to->format(DATE_ATOM)]);
$orders = $range->fetchAll();
echo 'range ', count($orders), "\n";
try {
    $connection->prepare('SELECT FROM orders WHERE id >= ?')->execute([$from->format(DATE_ATOM)]);
} catch (PDOException $error) {
    echo 'untyped ', $error->getCode(), "\n";
}
