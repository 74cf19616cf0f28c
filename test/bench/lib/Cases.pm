# The cases, in the order in which they are measured and in that of the pages. Locality is measured after Load, whose
# tables it continues with.
#
# A case has `plan`, which adds steps that measure, and for the pages `goals`, `charts`, which draws, and `parts`,
# functions by their names in the templates.
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
use Case::Portable;
use Case::Scripts;

our @EXPORT = qw(measured_cases page_cases);

sub measured_cases
{
	return map { "Case::$_" } qw(Make Load Locality Clients Items Week Memory Reads Watermark Portable Scripts);
}

sub page_cases
{
	return map { "Case::$_" } qw(Make Load Clients Locality Memory Reads Items Week Watermark Scripts Portable);
}

1;
