package postgres

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/journal"
	"causeway/ports"
)

// glJournals are journals without their lines.
var glJournals = schema.New("gl_journals", []string{"platform_id", "number"}, func(row *ofPlatform[journal.Journal]) schema.Columns {
	j := &row.value
	return slices.Concat(schema.Columns{
		{Name: "platform_id", Field: &row.platform}, {Name: "number", Field: &j.Number},
		{Name: "span", Field: schema.Converted(func() string { return j.Span.String() }, func(string) error { return nil })},
		{Name: "from_day", Field: &j.Span.From, Type: "date"}, {Name: "to_day", Field: &j.Span.To, Type: "date"},
		{Name: "currency", Field: &j.Currency}, {Name: "revision", Field: &j.Revision}, {Name: "mapping_version", Field: &j.MappingVersion},
		{Name: "made_at", Field: &j.MadeAt},
	}, schema.AuthorColumns(&j.By))
})

type journalLineRow struct {
	platform ident.Platform
	number   string
	line     int
	journal.Line
}

var glJournalLines = schema.New("gl_journal_lines", []string{"platform_id", "number", "line"}, func(l *journalLineRow) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &l.platform}, {Name: "number", Field: &l.number}, {Name: "line", Field: &l.line},
		{Name: "code", Field: &l.Code}, {Name: "name", Field: &l.Name}, {Name: "debit", Field: &l.Debit}, {Name: "credit", Field: &l.Credit},
	}
})

var (
	insertGLJournal      = glJournals.Insert("")
	insertGLJournalLines = glJournalLines.InsertAll("")
	// selectGLJournalLines has journals with one row for each line. A journal has at least one.
	selectGLJournalLines = `SELECT ` + glJournals.Names("j") + `, ` + glJournalLines.Names("l") + `
	FROM gl_journals j JOIN gl_journal_lines l ON l.platform_id = j.platform_id AND l.number = j.number
	WHERE j.platform_id = $1 AND `
)

// readGLJournals reads journals with their lines.
func readGLJournals(ctx context.Context, db *DB, read storage.Reader, condition string,
	args ...any) (journals []journal.Journal, err error) {
	err = read(ctx, selectGLJournalLines+condition+` ORDER BY j.number COLLATE "C", l.line`, args, func(rows pgx.Rows) error {
		var j ofPlatform[journal.Journal]
		var l journalLineRow
		err := db.sealed.Scan(ctx, rows, slices.Concat(glJournals.Columns(&j), glJournalLines.Columns(&l)))
		if n := len(journals); n == 0 || journals[n-1].Number != j.value.Number {
			journals = append(journals, j.value)
		}
		last := &journals[len(journals)-1]
		last.Lines = append(last.Lines, l.Line)
		return err
	})
	return journals, err
}

// Journals implements journals.Store. A platform has some journals a day, so the primary key is enough.
func (db *DB) Journals(ctx context.Context, p ident.Platform, f ports.JournalFilter) (page ports.JournalPage, err error) {
	var from, to, afterDay time.Time
	var afterNumber string
	if f.Span != nil {
		from, to = f.Span.From, f.Span.To
	}
	if f.After != nil {
		afterDay, afterNumber = f.After.Span.To, f.After.Number
	}
	rows, err := selectRows(ctx, db, db.read, glJournals, `
		WHERE platform_id = $1 AND ($2::date IS NULL OR from_day = $2 AND to_day = $3)
		  AND ($4::date IS NULL OR to_day < $4 OR to_day = $4 AND number COLLATE "C" > $5)
		ORDER BY to_day DESC, number COLLATE "C" LIMIT $6`, p, from, to, afterDay, afterNumber, f.Limit+1)
	rows, page.More = firstOf(rows, f.Limit)
	for _, row := range rows {
		page.Journals = append(page.Journals, row.value)
	}
	return page, err
}

// Journal implements journals.Store.
func (db *DB) Journal(ctx context.Context, p ident.Platform, number string) (journal.Journal, bool, error) {
	journals, err := readGLJournals(ctx, db, db.read, `j.number = $2`, p, number)
	if err != nil || len(journals) == 0 {
		return journal.Journal{}, false, err
	}
	return journals[0], true, nil
}

// JournalsOf implements journals.Tx.
func (u *Unit) JournalsOf(ctx context.Context, p ident.Platform, span journal.Span) ([]journal.Journal, error) {
	return readGLJournals(ctx, u.db, u.query, `j.from_day = $2 AND j.to_day = $3`, p, span.From, span.To)
}

// selectGLJournalSpans uses the primary key.
const selectGLJournalSpans = `SELECT DISTINCT from_day, to_day FROM gl_journals
	WHERE platform_id = $1 AND from_day < $3 AND to_day > $2 ORDER BY from_day, to_day`

// JournalSpans implements journals.Tx.
func (u *Unit) JournalSpans(ctx context.Context, p ident.Platform, span journal.Span) (spans []journal.Span, err error) {
	err = u.query(ctx, selectGLJournalSpans, []any{p, span.From, span.To}, func(rows pgx.Rows) error {
		var s journal.Span
		err := rows.Scan(&s.From, &s.To)
		spans = append(spans, s)
		return err
	})
	return spans, err
}

// SaveJournals implements journals.Tx.
func (u *Unit) SaveJournals(ctx context.Context, p ident.Platform, journals []journal.Journal) error {
	for _, j := range journals {
		if err := write(ctx, u, insertGLJournal, ofPlatform[journal.Journal]{p, j}); err != nil {
			return err
		}
		lines := make([]journalLineRow, len(j.Lines))
		for i, l := range j.Lines {
			lines[i] = journalLineRow{p, j.Number, i + 1, l}
		}
		if err := writeAll(ctx, u, insertGLJournalLines, lines); err != nil {
			return err
		}
	}
	return nil
}
