package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/core/fault"
	"causeway/core/vasp"
)

// vaspDirectories is the table vasp_directories.
var vaspDirectories = schema.New("vasp_directories", []string{"imported_at"}, func(i *vasp.Import) schema.Columns {
	return schema.Columns{
		{Name: "imported_at", Field: &i.At}, {Name: "actor", Field: &i.Actor}, {Name: "person_id", Field: &i.Person},
		{Name: "providers", Type: "jsonb", Field: schema.JSON(
			func() []providerColumn {
				return mapped(i.Providers, func(p vasp.Provider) providerColumn { return providerColumn(p) })
			},
			func(stored []providerColumn) {
				i.Providers = mapped(stored, func(p providerColumn) vasp.Provider { return vasp.Provider(p) })
			})},
	}
})

type providerColumn struct {
	Name string `json:"name"`
	URL  string `json:"url,omitempty"`
}

var insertVASPDirectory = vaspDirectories.Insert("ON CONFLICT DO NOTHING")

const accountsByVASP = `SELECT vasp_name, count(*) FROM external_accounts WHERE vasp_name = ANY($1) AND deleted_at IS NULL GROUP BY vasp_name`

// VASPDirectory implements accounts.Store. It uses the primary key.
func (db *DB) VASPDirectory(ctx context.Context) (vasp.Import, bool, error) {
	return selectRow(ctx, db, db.read, vaspDirectories, "ORDER BY imported_at DESC LIMIT 1")
}

// CreateVASPDirectory implements accounts.Tx.
func (u *Unit) CreateVASPDirectory(ctx context.Context, i vasp.Import) error {
	return writeNow(ctx, u, insertVASPDirectory, i, fault.New(fault.Conflict, "Another directory is being imported. Repeat the command."))
}

// AccountsByVASP implements accounts.Store. It scans the accounts, for commands of operators.
func (db *DB) AccountsByVASP(ctx context.Context, names []string) (map[string]int64, error) {
	counts := map[string]int64{}
	return counts, db.queryRows(ctx, accountsByVASP, []any{names}, func(rows pgx.Rows) error {
		var name string
		var count int64
		err := rows.Scan(&name, &count)
		counts[name] = count
		return err
	})
}
