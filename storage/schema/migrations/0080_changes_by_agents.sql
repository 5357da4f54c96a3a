-- A change that an agent makes with a tool says so in the audit log.
ALTER TABLE IF EXISTS audit_log ADD COLUMN tool text;
