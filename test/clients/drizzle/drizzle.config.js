export default {
  dialect: 'postgresql',
  schema: './schema.js',
  out: './pulled',
  dbCredentials: { url: process.env.DATABASE_URL },
};
