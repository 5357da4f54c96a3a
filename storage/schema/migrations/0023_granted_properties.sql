-- A grant names resources by an id, or user tasks by a property: those whose assignee or candidate the caller is.

ALTER TABLE authorizations
    ADD COLUMN resource_property_name text,
    ALTER COLUMN resource_id DROP NOT NULL,
    ADD CHECK (num_nonnulls(resource_id, resource_property_name) = 1);
