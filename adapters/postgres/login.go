package postgres

import (
	"context"
	"fmt"
)

// Login is the role that connections log in as, before they take the role of the service. A
// session can return to it with RESET ROLE.
type Login struct {
	Name string
	// Excess says what the login may do beyond the service's role, such as "owns the tables";
	// empty if nothing that matters.
	Excess string
}

// Login returns the login of the connections.
func (db *DB) Login(ctx context.Context) (login Login, err error) {
	err = db.pool.QueryRow(ctx, `
		SELECT session_user, CASE
			WHEN r.rolsuper THEN 'is a superuser'
			WHEN c.relowner = r.oid THEN 'owns the tables'
			WHEN pg_has_role(r.oid, c.relowner, 'MEMBER') THEN 'is a member of the owner of the tables'
			WHEN r.rolcreaterole THEN 'may change roles (CREATEROLE)'
			WHEN r.rolbypassrls THEN 'bypasses row-level security (BYPASSRLS)'
			ELSE '' END
		FROM pg_roles r, pg_class c WHERE r.rolname = session_user AND c.oid = 'ledger_postings'::regclass`).Scan(&login.Name, &login.Excess)
	if err != nil {
		return login, fmt.Errorf("read the privileges of the login: %w", err)
	}
	return login, nil
}
