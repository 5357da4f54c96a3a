-- Events are written as text and given out as text: that they are JSON is known, and PostgreSQL need not read each of
-- them to find out. `events::json` reads into them.
ALTER TABLE event_log ALTER COLUMN events TYPE text;
