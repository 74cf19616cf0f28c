<?php
// Prints a thousand ids of each codec.
require 'Ramsey/Uuid/autoload.php';

use Ramsey\Uuid\Codec\TimestampFirstCombCodec;
use Ramsey\Uuid\Codec\TimestampLastCombCodec;
use Ramsey\Uuid\Generator\CombGenerator;
use Ramsey\Uuid\UuidFactory;

foreach (['ramsey' => TimestampFirstCombCodec::class, 'ramsey_end' => TimestampLastCombCodec::class] as $layout => $codec) {
    $factory = new UuidFactory();
    $factory->setRandomGenerator(new CombGenerator($factory->getRandomGenerator(), $factory->getNumberConverter()));
    $factory->setCodec(new $codec($factory->getUuidBuilder()));
    for ($i = 0; $i < 1000; $i++) {
        echo $layout, ',', $factory->uuid4(), "\n";
    }
}
