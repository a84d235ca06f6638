package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/ident"
	"causeway/core/journal"
	"causeway/core/money"
	"causeway/ports"
)

const glJournalColumns = `j.number, j.from_day, j.to_day, j.currency, j.revision, j.mapping_version, j.made_at, j.token_id, j.actor`

// selectGLJournalLines has journals with one row for each line. A journal has at least one.
const selectGLJournalLines = `
	SELECT ` + glJournalColumns + `, l.code, l.name, l.debit::text, l.credit::text
	FROM gl_journals j JOIN gl_journal_lines l ON l.platform_id = j.platform_id AND l.number = j.number
	WHERE j.platform_id = $1 AND `

func scanGLJournal(rows pgx.Rows, more ...any) (j journal.Journal, err error) {
	var from, to pgtype.Date
	var at pgtype.Timestamptz
	var by pgtype.UUID
	var currency string
	err = rows.Scan(append([]any{&j.Number, &from, &to, &currency, &j.Revision, &j.MappingVersion, &at, &by, &j.By.Actor}, more...)...)
	j.Span, j.Currency, j.MadeAt, j.By.Token = journal.Span{From: from.Time.UTC(), To: to.Time.UTC()}, money.Currency(currency), utcTime(at), tokenID(by)
	return j, err
}

// readGLJournals reads journals with their lines.
func readGLJournals(ctx context.Context, read reader, condition string, args ...any) (journals []journal.Journal, err error) {
	err = read(ctx, selectGLJournalLines+condition+` ORDER BY j.number COLLATE "C", l.line`, args, func(rows pgx.Rows) error {
		var l journal.Line
		var debit, credit string
		j, err := scanGLJournal(rows, &l.Code, &l.Name, &debit, &credit)
		if err != nil {
			return err
		}
		if l.Debit, err = money.ParseTotal(debit); err != nil {
			return err
		}
		if l.Credit, err = money.ParseTotal(credit); err != nil {
			return err
		}
		if n := len(journals); n == 0 || journals[n-1].Number != j.Number {
			journals = append(journals, j)
		}
		last := &journals[len(journals)-1]
		last.Lines = append(last.Lines, l)
		return nil
	})
	return journals, err
}

// Journals implements ports.JournalReader. A platform has some journals a day, so the primary key is enough.
func (db *DB) Journals(ctx context.Context, p ident.Platform, f ports.JournalFilter) (page ports.JournalPage, err error) {
	var from, to, afterDay pgtype.Date
	var afterNumber string
	if f.Span != nil {
		from, to = dayDate(f.Span.From), dayDate(f.Span.To)
	}
	if f.After != nil {
		afterDay, afterNumber = dayDate(f.After.Span.To), f.After.Number
	}
	err = db.read(ctx, `SELECT `+glJournalColumns+` FROM gl_journals j
		WHERE j.platform_id = $1 AND ($2::date IS NULL OR j.from_day = $2 AND j.to_day = $3)
		  AND ($4::date IS NULL OR j.to_day < $4 OR j.to_day = $4 AND j.number COLLATE "C" > $5)
		ORDER BY j.to_day DESC, j.number COLLATE "C" LIMIT $6`,
		[]any{pgID(p.UUID()), from, to, afterDay, afterNumber, f.Limit + 1}, func(rows pgx.Rows) error {
			j, err := scanGLJournal(rows)
			page.Journals = append(page.Journals, j)
			return err
		})
	if page.More = len(page.Journals) > f.Limit; page.More {
		page.Journals = page.Journals[:f.Limit]
	}
	return page, err
}

// Journal implements ports.JournalReader.
func (db *DB) Journal(ctx context.Context, p ident.Platform, number string) (journal.Journal, bool, error) {
	journals, err := readGLJournals(ctx, db.read, `j.number = $2`, pgID(p.UUID()), number)
	if err != nil || len(journals) == 0 {
		return journal.Journal{}, false, err
	}
	return journals[0], true, nil
}

// JournalsOf implements ports.JournalWriter.
func (u *unit) JournalsOf(ctx context.Context, p ident.Platform, span journal.Span) ([]journal.Journal, error) {
	return readGLJournals(ctx, u.query, `j.from_day = $2 AND j.to_day = $3`, pgID(p.UUID()), dayDate(span.From), dayDate(span.To))
}

// JournalSpans implements ports.JournalWriter.
func (u *unit) JournalSpans(ctx context.Context, p ident.Platform, span journal.Span) (spans []journal.Span, err error) {
	err = u.query(ctx, `SELECT DISTINCT from_day, to_day FROM gl_journals WHERE platform_id = $1 AND from_day < $3 AND to_day > $2 ORDER BY from_day, to_day`,
		[]any{pgID(p.UUID()), dayDate(span.From), dayDate(span.To)}, func(rows pgx.Rows) error {
			var from, to pgtype.Date
			err := rows.Scan(&from, &to)
			spans = append(spans, journal.Span{From: from.Time.UTC(), To: to.Time.UTC()})
			return err
		})
	return spans, err
}

// SaveJournals implements ports.JournalWriter.
func (u *unit) SaveJournals(_ context.Context, p ident.Platform, journals []journal.Journal) error {
	for _, j := range journals {
		var codes, names, debits, credits []string
		for _, l := range j.Lines {
			codes, names, debits, credits = append(codes, l.Code), append(names, l.Name), append(debits, l.Debit.String()), append(credits, l.Credit.String())
		}
		u.queueExec(`INSERT INTO gl_journals (platform_id, number, span, from_day, to_day, currency, revision, mapping_version, made_at, token_id, actor)
			VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
			pgID(p.UUID()), j.Number, j.Span.String(), dayDate(j.Span.From), dayDate(j.Span.To), string(j.Currency), j.Revision, j.MappingVersion, pgTime(j.MadeAt),
			pgID(j.By.Token.UUID()), j.By.Actor)
		u.queueExec(`INSERT INTO gl_journal_lines (platform_id, number, line, code, name, debit, credit)
			SELECT $1, $2, nth, code, name, debit::numeric, credit::numeric
			FROM unnest($3::text[], $4::text[], $5::text[], $6::text[]) WITH ORDINALITY AS w (code, name, debit, credit, nth)`,
			pgID(p.UUID()), j.Number, codes, names, debits, credits)
	}
	return nil
}

func dayDate(day time.Time) pgtype.Date { return pgtype.Date{Time: day, Valid: true} }
