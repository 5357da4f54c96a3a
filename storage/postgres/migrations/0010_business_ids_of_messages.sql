-- Instances that a kept message starts later have its business id.
ALTER TABLE messages ADD COLUMN business_id text;
