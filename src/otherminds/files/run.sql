create table about (name text primary key, value text not null, checksum integer not null);
create table plan (
  place integer primary key, condition text not null, subject text not null, episode text not null,
  checksum integer not null, unique (condition, subject, episode)
);
create table episodes (
  condition text not null, subject text not null, episode text not null, finished text not null, rows text not null,
  checksum integer not null, primary key (condition, subject, episode)
);
create table failures (
  condition text not null, subject text not null, episode text not null, at text not null, why text not null,
  checksum integer not null, primary key (condition, subject, episode)
);
create table calls (
  n integer primary key, key text not null, model text not null, place text not null, sent text not null,
  state text not null check (state in ('sent', 'done', 'refused', 'lost', 'twice')),
  cost real not null check (cost >= 0 and cost < 1e300), line text, checksum integer not null
);
create unique index answers on calls (key) where state = 'done';
create index unsettled on calls (model) where state in ('sent', 'lost');
create index costs on calls (cost);
create table totals (name text primary key, rows integer not null, sum integer not null);
