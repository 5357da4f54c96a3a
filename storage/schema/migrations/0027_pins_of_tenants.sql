-- Pins belong to their tenant and end with it: a later tenant with the same id begins in all partitions.

DELETE FROM tenant_partitions p WHERE NOT EXISTS (SELECT FROM tenants t WHERE t.tenant_id = p.tenant_id);

ALTER TABLE tenant_partitions ADD FOREIGN KEY (tenant_id) REFERENCES tenants ON DELETE CASCADE;
