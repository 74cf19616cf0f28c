<?php
require 'Doctrine/DBAL/autoload.php';
use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Exception\DriverException;
use Doctrine\DBAL\Schema\Schema;

$connection = DriverManager::getConnection(['driver' => 'pdo_pgsql', 'host' => getenv('PGHOST'),
    'port' => getenv('PGPORT'), 'user' => getenv('PGUSER'), 'dbname' => getenv('PGDATABASE')]);
$schema = new Schema;
// @doctrine-schema@
$platform = $connection->getDatabasePlatform();
foreach ($schema->toSql($platform) as $statement) $connection->executeStatement($statement);
$connection->executeStatement(getenv('CREATED_AT'));
$connection->executeStatement(getenv('PAST_ORDERS'));

$manager = $connection->createSchemaManager();
function changes($manager, $schema, $platform)
{
    $changes = $manager->createComparator()->compareSchemas($manager->introspectSchema(), $schema);
    return count($platform->getAlterSchemaSQL($changes));
}
echo 'changes ', changes($manager, $schema, $platform), "\n";
$connection->executeStatement("SELECT comb_track('orders')");
echo 'unfiltered ', changes($manager, $schema, $platform), "\n";
// @doctrine-filter@
echo 'filtered ', changes($manager, $schema, $platform), "\n";

$customers = array_map('strval', range(0, 999));
$ids = $connection->fetchFirstColumn(
    'INSERT INTO orders (customer) SELECT unnest(?::text[]) RETURNING id', ['{' . implode(',', $customers) . '}']);
$from = new DateTimeImmutable('2025-11-20T00:00Z');
$to = new DateTimeImmutable('2025-11-21T00:00Z');
// @doctrine-range@
echo 'range ', count($orders), "\n";
echo 'created ', substr($orders[20]['created_at'], 0, 19), "\n";

$connection->executeStatement('SELECT id AS order_id INTO items FROM orders');
$page = $connection->createQueryBuilder()->select('o.created_at')->from('items', 'i')
    ->join('i', 'orders', 'o', 'o.id = i.order_id')->where('o.created_at < :to')
    ->setParameter('to', $to, 'datetimetz_immutable')->orderBy('o.created_at', 'DESC')
    ->setFirstResult(1)->setMaxResults(2);
echo 'join ', substr($page->fetchFirstColumn()[1], 0, 19), "\n";
try {
    $connection->fetchAllAssociative('SELECT FROM orders WHERE id >= ?', [$from], ['datetimetz_immutable']);
} catch (DriverException $error) {
    echo 'untyped ', $error->getSQLState(), "\n";
}
