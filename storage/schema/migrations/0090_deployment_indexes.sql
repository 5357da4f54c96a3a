-- A deployment whose files are all known looks up what each of them was deployed with. A database that somebody has changed may
-- lack a table, and is refused after all migrations.
DO $$ BEGIN
    IF to_regclass('process_definitions') IS NOT NULL THEN
        CREATE INDEX process_definitions_deployment ON process_definitions (deployment_key);
    END IF;
    IF to_regclass('forms') IS NOT NULL THEN
        CREATE INDEX forms_deployment ON forms (deployment_key);
    END IF;
END $$;
CREATE INDEX decision_requirements_deployment ON decision_requirements (deployment_key);
