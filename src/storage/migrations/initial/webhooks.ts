import type { Migration } from "../../applied-migrations.ts";

/**
 * Webhook endpoints of shops, by account and mode: they stay when the data of a sandbox is deleted. Tables
 * with the column `shop` hold what is delivered of one shop's events.
 */
export const webhookSchema: Migration = {
  name: "webhooks",
  // `position` is the last event of `followed_shop` that is dealt with: delivered, not wanted, or with a row of its own in
  // `webhook_attempts`, which is the next attempt to send it. `version` grows with each saved progress and each change that
  // a process must notice before it saves more. `waits_until` is when a failing endpoint gets its next message. A test has
  // an `event_id` below 0.
  sqlite: `
    CREATE TABLE webhook_endpoints (
      account_id TEXT NOT NULL,
      mode TEXT NOT NULL CHECK (mode IN ('live', 'test')),
      id TEXT NOT NULL,
      url TEXT NOT NULL,
      types TEXT NOT NULL,
      description TEXT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('enabled', 'paused', 'disabled')),
      secrets TEXT NOT NULL,
      created_at INTEGER NOT NULL,
      followed_shop INTEGER NOT NULL,
      position INTEGER NOT NULL,
      last_delivery_id INTEGER NOT NULL DEFAULT 0,
      last_redelivery_id INTEGER NOT NULL DEFAULT 0,
      version INTEGER NOT NULL DEFAULT 0,
      waits_until INTEGER,
      failing_since INTEGER,
      health TEXT NOT NULL,
      expires_at INTEGER,
      PRIMARY KEY (account_id, mode, id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX webhook_endpoints_by_expiry ON webhook_endpoints (expires_at) WHERE state <> 'disabled';
    CREATE TABLE webhook_attempts (
      shop INTEGER NOT NULL,
      endpoint_id TEXT NOT NULL,
      event_id INTEGER NOT NULL,
      kind TEXT NOT NULL CHECK (kind IN ('event', 'redelivery', 'test')),
      attempt INTEGER NOT NULL,
      due_at INTEGER NOT NULL,
      PRIMARY KEY (shop, endpoint_id, event_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX webhook_attempts_by_time ON webhook_attempts (shop, endpoint_id, due_at);
    CREATE TABLE webhook_redeliveries (
      shop INTEGER NOT NULL,
      endpoint_id TEXT NOT NULL,
      id INTEGER NOT NULL,
      position INTEGER NOT NULL,
      last_event INTEGER NOT NULL,
      PRIMARY KEY (shop, endpoint_id, id)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE webhook_deliveries (
      shop INTEGER NOT NULL,
      endpoint_id TEXT NOT NULL,
      id INTEGER NOT NULL,
      kind TEXT NOT NULL CHECK (kind IN ('event', 'redelivery', 'test')),
      webhook_id TEXT NOT NULL,
      event_id INTEGER,
      event_type TEXT NOT NULL,
      attempt INTEGER NOT NULL,
      at INTEGER NOT NULL,
      duration INTEGER NOT NULL,
      outcome TEXT NOT NULL CHECK (outcome IN ('succeeded', 'failed')),
      failure TEXT,
      status INTEGER,
      response TEXT,
      PRIMARY KEY (shop, endpoint_id, id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX webhook_deliveries_by_outcome ON webhook_deliveries (shop, endpoint_id, outcome, id);
    CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries (at);
  `,
  postgres: `
    CREATE TABLE webhook_endpoints (
      account_id TEXT COLLATE "C" NOT NULL,
      mode TEXT COLLATE "C" NOT NULL CHECK (mode IN ('live', 'test')),
      id TEXT COLLATE "C" NOT NULL,
      url TEXT NOT NULL,
      types TEXT NOT NULL,
      description TEXT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('enabled', 'paused', 'disabled')),
      secrets TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      followed_shop BIGINT NOT NULL,
      position BIGINT NOT NULL,
      last_delivery_id BIGINT NOT NULL DEFAULT 0,
      last_redelivery_id BIGINT NOT NULL DEFAULT 0,
      version BIGINT NOT NULL DEFAULT 0,
      waits_until BIGINT,
      failing_since BIGINT,
      health TEXT NOT NULL,
      expires_at BIGINT,
      PRIMARY KEY (account_id, mode, id)
    ) WITH (fillfactor = 50);
    CREATE INDEX webhook_endpoints_by_expiry ON webhook_endpoints (expires_at) WHERE state <> 'disabled';
    CREATE TABLE webhook_attempts (
      shop BIGINT NOT NULL,
      endpoint_id TEXT COLLATE "C" NOT NULL,
      event_id BIGINT NOT NULL,
      kind TEXT NOT NULL CHECK (kind IN ('event', 'redelivery', 'test')),
      attempt BIGINT NOT NULL,
      due_at BIGINT NOT NULL,
      PRIMARY KEY (shop, endpoint_id, event_id)
    );
    CREATE INDEX webhook_attempts_by_time ON webhook_attempts (shop, endpoint_id, due_at);
    CREATE TABLE webhook_redeliveries (
      shop BIGINT NOT NULL,
      endpoint_id TEXT COLLATE "C" NOT NULL,
      id BIGINT NOT NULL,
      position BIGINT NOT NULL,
      last_event BIGINT NOT NULL,
      PRIMARY KEY (shop, endpoint_id, id)
    );
    CREATE TABLE webhook_deliveries (
      shop BIGINT NOT NULL,
      endpoint_id TEXT COLLATE "C" NOT NULL,
      id BIGINT NOT NULL,
      kind TEXT NOT NULL CHECK (kind IN ('event', 'redelivery', 'test')),
      webhook_id TEXT NOT NULL,
      event_id BIGINT,
      event_type TEXT NOT NULL,
      attempt BIGINT NOT NULL,
      at BIGINT NOT NULL,
      duration BIGINT NOT NULL,
      outcome TEXT COLLATE "C" NOT NULL CHECK (outcome IN ('succeeded', 'failed')),
      failure TEXT,
      status BIGINT,
      response TEXT,
      PRIMARY KEY (shop, endpoint_id, id)
    );
    CREATE INDEX webhook_deliveries_by_outcome ON webhook_deliveries (shop, endpoint_id, outcome, id);
    CREATE INDEX webhook_deliveries_by_time ON webhook_deliveries (at);
  `,
};
