package kit

import (
	"context"
	"fmt"
	"net/url"
	"time"

	"github.com/jackc/pgx/v5"
)

// serviceLogin is the login of the service, as docs/operating.md creates it.
const serviceLogin = "causeway_web"

// CreateServiceLogin creates the login of the service in a migrated database, if it does not
// exist, and returns the URL of the database with it. ownerURL names the owner of the database.
// The owner, a member of it, can see and end its sessions. Roles belong to the server: sessions on
// other databases may create the login at the same time.
func CreateServiceLogin(ctx context.Context, ownerURL string) (string, error) {
	service, err := url.Parse(ownerURL)
	if err != nil {
		return "", fmt.Errorf("parse the database URL: %w", err)
	}
	service.User = url.UserPassword(serviceLogin, serviceLogin)
	conn, err := pgx.Connect(ctx, ownerURL)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(ctx) }()
	for {
		var ready bool
		if err := conn.QueryRow(ctx, `SELECT count(DISTINCT (roleid, member)) = 2 FROM pg_auth_members
			WHERE (roleid, member) IN ((to_regrole('causeway_service'), to_regrole($1)), (to_regrole($1), to_regrole(current_user)))`,
			serviceLogin).Scan(&ready); err != nil || ready {
			return service.String(), err
		}
		_, failed := conn.Exec(ctx, `
			DO $$ BEGIN CREATE ROLE `+serviceLogin+` LOGIN PASSWORD '`+serviceLogin+`'; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
			GRANT causeway_service TO `+serviceLogin+`; GRANT `+serviceLogin+` TO CURRENT_USER`)
		if failed == nil {
			continue
		}
		select {
		case <-ctx.Done():
			return "", fmt.Errorf("create the login of the service: %w", failed)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
