-- The end of a session is no change of rights: nodes forget the callers with sessions, and long polls go on.

CREATE OR REPLACE FUNCTION notify_ended_sessions() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM ended WHERE expires_at > clock_timestamp()) THEN
        PERFORM pg_notify('vivero_identities', 'sessions');
    END IF;
    RETURN NULL;
END $$;
