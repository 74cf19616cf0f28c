import { sql } from 'drizzle-orm';
import { pgTable, pgView, text, timestamp, uuid } from 'drizzle-orm/pg-core';

@drizzle-schema@
@drizzle-view@
