# The cases, in the order in which they are measured: Locality continues with the tables that Load leaves.
#
# A case has `plan`, which adds steps that measure, and for the page `goals` and `parts`, functions by their names in
# the template.
package Cases;

use strict;
use warnings;
use Exporter 'import';
use Case::Make;
use Case::Load;
use Case::Locality;
use Case::Clients;
use Case::Items;
use Case::Week;
use Case::Memory;
use Case::Reads;
use Case::Watermark;
use Case::Scripts;

our @EXPORT = qw(cases);

sub cases
{
	return map { "Case::$_" } qw(Make Load Locality Clients Items Week Memory Reads Watermark Scripts);
}

1;
