package postgres

import (
	"context"
	"encoding/json"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/screening"
)

// entryColumn is the content column of sanctions_entries.
type entryColumn struct {
	List      screening.List `json:"list"`
	Ref       string         `json:"ref"`
	Kind      screening.Kind `json:"kind"`
	Names     []listedName   `json:"names"`
	Births    []listedBirth  `json:"births,omitempty"`
	Countries []string       `json:"countries,omitempty"`
	Programs  []string       `json:"programs,omitempty"`
}

type listedName struct {
	Text string `json:"text"`
	Weak bool   `json:"weak,omitempty"`
}

type listedBirth struct {
	Year   int `json:"year"`
	ToYear int `json:"toYear"`
	Month  int `json:"month,omitempty"`
	Day    int `json:"day,omitempty"`
}

func newEntryColumn(e screening.Entry) entryColumn {
	return entryColumn{List: e.List, Ref: e.Ref, Kind: e.Kind, Countries: e.Countries, Programs: e.Programs,
		Names:  mapped(e.Names, func(n screening.EntryName) listedName { return listedName(n) }),
		Births: mapped(e.Births, func(b screening.Birth) listedBirth { return listedBirth(b) })}
}

func (c entryColumn) entry() screening.Entry {
	return screening.Entry{List: c.List, Ref: c.Ref, Kind: c.Kind, Countries: c.Countries, Programs: c.Programs,
		Names:  mapped(c.Names, func(n listedName) screening.EntryName { return screening.EntryName(n) }),
		Births: mapped(c.Births, func(b listedBirth) screening.Birth { return screening.Birth(b) })}
}

// entriesPerInsert bounds the size of one statement.
const entriesPerInsert = 1000

// sanctionsLists is the table sanctions_lists.
var sanctionsLists = schema.New("sanctions_lists", []string{"id"}, func(l *screening.LoadedList) schema.Columns {
	return schema.Columns{
		{Name: "id", Field: &l.ID}, {Name: "list", Field: &l.List}, {Name: "published_at", Field: &l.PublishedAt},
		{Name: "sha256", Field: &l.SHA256},
		{Name: "entries", Field: &l.Entries}, {Name: "actor", Field: &l.Actor}, {Name: "person_id", Field: &l.Person},
		{Name: "loaded_at", Field: &l.LoadedAt},
	}
})

var insertSanctionsList = sanctionsLists.Insert("")

// ReplaceSanctionsList inserts the list and the runs and deletes the entries of the list before, in one
// transaction. Two that run at once wait for each other.
func (db *DB) ReplaceSanctionsList(ctx context.Context, list screening.LoadedList, entries []screening.Entry, runs []screening.Run) error {
	if err := db.CheckClock(); err != nil {
		return err
	}
	return db.inTx(ctx, func(tx storage.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('sanctions_lists'))`); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `DELETE FROM sanctions_entries e USING sanctions_lists l WHERE l.id = e.list_id AND l.list = $1`,
			list.List); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, insertSanctionsList.SQL, sanctionsLists.Columns(&list).Fields()...); err != nil {
			return err
		}
		for len(entries) > 0 {
			n := min(len(entries), entriesPerInsert)
			refs, contents := make([]string, n), make([]string, n)
			for i, e := range entries[:n] {
				content, err := json.Marshal(newEntryColumn(e))
				if err != nil {
					return err
				}
				refs[i], contents[i] = e.Ref, string(content)
			}
			if _, err := tx.Exec(
				ctx, `INSERT INTO sanctions_entries (list_id, ref, content) SELECT $1, e.ref, e.content::jsonb FROM unnest($2::text[], $3::text[]) AS e(ref, content)`,
				list.ID, refs, contents); err != nil {
				return err
			}
			entries = entries[n:]
		}
		for _, r := range runs {
			if _, err := tx.Exec(ctx, `UPDATE screening_runs SET status = 'REPLACED', updated_at = $2 WHERE platform_id = $1 AND status = 'RUNNING'`,
				r.Platform, list.LoadedAt); err != nil {
				return err
			}
			if _, err := tx.Exec(ctx, insertScreeningRun, r.Platform, r.ID, list.ID, list.LoadedAt); err != nil {
				return err
			}
		}
		return nil
	})
}

// SanctionsLists has those lists whose entries are stored: of two that were loaded at once, or by computers
// whose clocks differ, the times do not tell. The table has a few rows.
func (db *DB) SanctionsLists(ctx context.Context) ([]screening.LoadedList, error) {
	return selectRows(ctx, db, db.queryRows, sanctionsLists,
		`l WHERE EXISTS (SELECT FROM sanctions_entries e WHERE e.list_id = l.id) ORDER BY list`)
}

// SanctionsEntries reads the whole table, which has the entries of the newest lists only.
func (db *DB) SanctionsEntries(ctx context.Context) ([]screening.Entry, error) {
	var entries []screening.Entry
	return entries, db.queryRows(ctx, `SELECT content FROM sanctions_entries ORDER BY list_id, ref`, nil, func(rows pgx.Rows) error {
		var column entryColumn
		err := rows.Scan(&column)
		entries = append(entries, column.entry())
		return err
	})
}
