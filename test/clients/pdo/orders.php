<?php
$connection = new PDO('pgsql:');
$customers = array_map('strval', range(0, 999));
@pdo-batch@

$from = new DateTimeImmutable('2025-11-20T00:00Z');
$to = new DateTimeImmutable('2025-11-21T00:00Z');
@pdo-range@
echo 'range ', count($orders), "\n";
try {
    $connection->prepare('SELECT FROM orders WHERE id >= ?')->execute([$from->format(DATE_ATOM)]);
} catch (PDOException $error) {
    echo 'untyped ', $error->getCode(), "\n";
}
