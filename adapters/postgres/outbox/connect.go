package outbox

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Connect makes connections to a database in the service's role, for NewQueue. They
// belong to no pool: a session lives as long as its connection.
func Connect(url string) func(context.Context) (*pgx.Conn, error) {
	return func(ctx context.Context) (*pgx.Conn, error) {
		config, err := pgx.ParseConfig(url)
		if err != nil {
			return nil, fmt.Errorf("the database URL is not usable: %w", err)
		}
		for name, value := range map[string]string{
			"application_name": "causeway webhooks", "timezone": "UTC", "statement_timeout": "30000", "lock_timeout": "10000",
		} {
			config.RuntimeParams[name] = value
		}
		conn, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			return nil, fmt.Errorf("cannot reach the database: %w", err)
		}
		if _, err := conn.Exec(ctx, "SET ROLE causeway_service"); err != nil {
			_ = conn.Close(ctx)
			return nil, fmt.Errorf("take the service's role: %w", err)
		}
		return conn, nil
	}
}
