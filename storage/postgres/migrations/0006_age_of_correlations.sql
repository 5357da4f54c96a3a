-- Correlated messages are deleted by their age.
CREATE INDEX message_correlations_age ON message_correlations (correlated_at);
