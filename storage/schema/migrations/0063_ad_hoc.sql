-- Ad-hoc sub-processes: what they have yet to activate, and whether their completion condition was true. Null for all others.
ALTER TABLE element_instances ADD COLUMN ad_hoc json;
