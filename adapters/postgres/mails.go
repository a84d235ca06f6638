package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/sealed"
	"causeway/adapters/postgres/storage"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// mailContent is the content column of a mail.
type mailContent struct {
	FromAddress string `json:"fromAddress"`
	FromName    string `json:"fromName,omitempty"`
	ReplyTo     string `json:"replyTo,omitempty"`
	To          string `json:"to"`
	Subject     string `json:"subject"`
	Text        string `json:"text"`
	HTML        string `json:"html"`
}

// waitingMails is the table mails, for mails that are to be sent.
var waitingMails = schema.New("mails", keyOfPlatform, func(m *ports.QueuedMail) schema.Columns {
	status := ports.MailWaiting
	return schema.Columns{
		{Name: "platform_id", Field: &m.Platform}, {Name: "id", Field: &m.ID}, {Name: "kind", Field: &m.Kind},
		{Name: "status", Field: &status},
		sealed.JSON(sealed.MailsContent,
			func() mailContent {
				return mailContent{m.FromAddress, m.FromName, m.ReplyTo, m.To, m.Subject, m.Text, m.HTML}
			},
			func(c mailContent) {
				m.FromAddress, m.FromName, m.ReplyTo, m.To, m.Subject, m.Text, m.HTML = c.FromAddress, c.FromName, c.ReplyTo, c.To,
					c.Subject, c.Text, c.HTML
			}),
		{Name: "topic", Field: &m.Topic}, {Name: "created_at", Field: &m.CreatedAt}, {Name: "expires_at", Field: &m.ExpiresAt},
	}
})

var insertMail = waitingMails.Insert("")

// endReplacedMails uses mails_waiting.
const endReplacedMails = `
	UPDATE mails SET status = 'EXPIRED', reason = 'a newer one takes its place', ended_at = $3, content = ''
	WHERE platform_id = $1 AND status = 'WAITING' AND topic = $2`

// AddMail implements mails.Tx.
func (u *Unit) AddMail(ctx context.Context, m ports.QueuedMail) error {
	if m.Topic != "" {
		u.queueExec(endReplacedMails, m.Platform, m.Topic, m.CreatedAt)
	}
	if err := write(ctx, u, insertMail, m); err != nil {
		return err
	}
	return u.AddJobs(ctx, []ports.Job{{ID: m.ID, Platform: m.Platform, Step: m.Kind.Step(), Subjects: []uuid.UUID{m.ID},
		Due: m.CreatedAt}})
}

// countMail uses the primary key. The clock of another process may be in the next hour already.
const countMail = `
	INSERT INTO mail_counts AS c (platform_id, hour_at, mails, notices, sms)
	VALUES ($1, $2, ($3 = 'mails')::int, ($3 = 'notices')::int, ($3 = 'sms')::int)
	ON CONFLICT (platform_id) DO UPDATE SET hour_at = greatest(c.hour_at, excluded.hour_at),
		mails = excluded.mails + CASE WHEN excluded.hour_at > c.hour_at THEN 0 ELSE c.mails END,
		notices = excluded.notices + CASE WHEN excluded.hour_at > c.hour_at THEN 0 ELSE c.notices END,
		sms = excluded.sms + CASE WHEN excluded.hour_at > c.hour_at THEN 0 ELSE c.sms END
	RETURNING CASE $3 WHEN 'mails' THEN mails WHEN 'sms' THEN sms ELSE notices END`

// CountMail implements mails.Tx.
func (u *Unit) CountMail(ctx context.Context, p ident.Platform, kind ports.MailKind, hour time.Time) (n int, err error) {
	counted := "notices"
	switch {
	case kind == ports.MailCode:
		counted = "mails"
	case kind == ports.SMSCode:
		counted = "sms"
	}
	_, err = storage.ReadRow(ctx, u.query, countMail, []any{p, hour, counted}, &n)
	return n, err
}

// EndMail uses the primary key.
func (u *Unit) EndMail(_ context.Context, p ident.Platform, id uuid.UUID, o ports.MailOutcome) error {
	u.queueExec(
		`UPDATE mails SET status = $3, reason = $4, ended_at = $5, content = '' WHERE platform_id = $1 AND id = $2 AND status = 'WAITING'`,
		p, id, o.Status, o.Reason, o.At)
	return nil
}

// selectWaitingMail uses the primary keys.
var selectWaitingMail = `
	SELECT ` + waitingMails.Names("m") + `, p.environment FROM mails m JOIN platforms p ON p.id = m.platform_id
	WHERE m.platform_id = $1 AND m.id = $2 AND m.status = 'WAITING'`

// WaitingMail implements mail.Store.
func (db *DB) WaitingMail(ctx context.Context, p ident.Platform,
	id uuid.UUID) (m ports.QueuedMail, environment platform.Environment, waits bool, err error) {
	columns := waitingMails.Columns(&m)
	if err := db.read(ctx, selectWaitingMail, []any{p, id}, func(rows pgx.Rows) error {
		waits = true
		return sealed.ScanStored(rows, columns, &environment)
	}); err != nil || !waits {
		return m, "", false, err
	}
	if err := db.sealed.OpenColumns(ctx, columns); err != nil {
		return m, "", false, err
	}
	return m, environment, true, nil
}

// listMails uses the primary key, or mails_waiting or mails_refused for one status.
const listMails = `
	SELECT platform_id, id, kind, status, reason, created_at, expires_at, ended_at FROM mails
	WHERE ($1::uuid IS NULL OR platform_id = $1) AND ($2 = '' OR status = $2) ORDER BY id DESC LIMIT $3`

// Mails returns mails of all platforms for operators.
func (db *DB) Mails(ctx context.Context, f ports.MailFilter) ([]ports.ListedMail, error) {
	return storage.Collect(ctx, db.queryRows, listMails, []any{f.Platform, f.Status, f.Limit}, func(rows pgx.Rows, m *ports.ListedMail) error {
		return rows.Scan(&m.Platform, &m.ID, &m.Kind, &m.Status, &m.Reason, &m.CreatedAt, &m.ExpiresAt, &m.At)
	})
}

// countWaitingMails uses mails_waiting.
const countWaitingMails = `
	SELECT count(*), min(w.created_at) FROM platforms p CROSS JOIN LATERAL (
		SELECT created_at FROM mails WHERE platform_id = p.id AND status = 'WAITING' ORDER BY created_at LIMIT $1) AS w`

// WaitingMails returns how many mails of all platforms wait, and when the oldest was created; zero if
// none waits. It counts up to a limit.
func (db *DB) WaitingMails(ctx context.Context, limit int) (n int, oldest time.Time, err error) {
	_, err = storage.ReadRow(ctx, db.queryRows, countWaitingMails, []any{limit}, &n, &oldest)
	return n, oldest, err
}
