package postgres

import (
	"context"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

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

// AddMail implements ports.MailWriter.
func (u *unit) AddMail(ctx context.Context, m ports.QueuedMail) error {
	content, err := u.db.sealJSONText(ctx, sealedRow{m.Platform.UUID(), m.ID}, mailsContent,
		mailContent{m.FromAddress, m.FromName, m.ReplyTo, m.To, m.Subject, m.Text, m.HTML})
	if err != nil {
		return err
	}
	u.queueExec(`INSERT INTO mails (platform_id, id, kind, status, content, created_at, expires_at) VALUES ($1, $2, $3, 'WAITING', $4, $5, $6)`,
		pgID(m.Platform.UUID()), pgID(m.ID), string(m.Kind), content, pgTime(m.CreatedAt), pgTime(m.ExpiresAt))
	return u.AddJobs(ctx, []ports.Job{{ID: m.ID, Platform: m.Platform, Step: ports.StepSendMail, Subjects: []uuid.UUID{m.ID}, Due: m.CreatedAt}})
}

// countMail uses the primary key. The clock of another process may be in the next hour already.
const countMail = `
	INSERT INTO mail_counts AS c (platform_id, hour_at, mails, notices) VALUES ($1, $2, CASE WHEN $3 THEN 1 ELSE 0 END, CASE WHEN $3 THEN 0 ELSE 1 END)
	ON CONFLICT (platform_id) DO UPDATE SET hour_at = greatest(c.hour_at, excluded.hour_at),
		mails = excluded.mails + CASE WHEN excluded.hour_at > c.hour_at THEN 0 ELSE c.mails END,
		notices = excluded.notices + CASE WHEN excluded.hour_at > c.hour_at THEN 0 ELSE c.notices END
	RETURNING CASE WHEN $3 THEN mails ELSE notices END`

// CountMail implements ports.MailWriter.
func (u *unit) CountMail(ctx context.Context, p ident.Platform, kind ports.MailKind, hour time.Time) (n int, err error) {
	err = u.query(ctx, countMail, []any{pgID(p.UUID()), pgTime(hour), kind == ports.MailCode}, func(rows pgx.Rows) error { return rows.Scan(&n) })
	return n, err
}

// EndMail uses the primary key.
func (u *unit) EndMail(_ context.Context, p ident.Platform, id uuid.UUID, o ports.MailOutcome) error {
	u.queueExec(`UPDATE mails SET status = $3, reason = $4, ended_at = $5, content = '' WHERE platform_id = $1 AND id = $2 AND status = 'WAITING'`,
		pgID(p.UUID()), pgID(id), string(o.Status), o.Reason, pgTime(o.At))
	return nil
}

// selectWaitingMail uses the primary keys.
const selectWaitingMail = `
	SELECT m.kind, m.content, m.created_at, m.expires_at, p.environment FROM mails m JOIN platforms p ON p.id = m.platform_id
	WHERE m.platform_id = $1 AND m.id = $2 AND m.status = 'WAITING'`

// WaitingMail implements ports.MailReader.
func (db *DB) WaitingMail(ctx context.Context, p ident.Platform, id uuid.UUID) (m ports.QueuedMail, environment platform.Environment, waits bool, err error) {
	rows, err := db.pool.Query(ctx, selectWaitingMail, pgID(p.UUID()), pgID(id))
	if err != nil {
		return m, "", false, err
	}
	var sealed string
	m.Platform, m.ID = p, id
	if err := forEachRow(rows, func(rows pgx.Rows) error {
		waits = true
		return rows.Scan(&m.Kind, &sealed, &m.CreatedAt, &m.ExpiresAt, &environment)
	}); err != nil || !waits {
		return m, "", false, err
	}
	m.CreatedAt, m.ExpiresAt = m.CreatedAt.UTC(), m.ExpiresAt.UTC()
	var c mailContent
	if err := db.openJSON(ctx, sealedRow{p.UUID(), id}, mailsContent, []byte(sealed), &c); err != nil {
		return m, "", false, err
	}
	m.FromAddress, m.FromName, m.ReplyTo, m.To, m.Subject, m.Text, m.HTML = c.FromAddress, c.FromName, c.ReplyTo, c.To, c.Subject, c.Text, c.HTML
	return m, environment, true, nil
}

// listMails uses the primary key, or mails_waiting or mails_refused for one status.
const listMails = `
	SELECT platform_id, id, kind, status, reason, created_at, expires_at, ended_at FROM mails
	WHERE ($1::uuid IS NULL OR platform_id = $1) AND ($2 = '' OR status = $2) ORDER BY id DESC LIMIT $3`

// Mails implements ports.MailReader.
func (db *DB) Mails(ctx context.Context, f ports.MailFilter) ([]ports.ListedMail, error) {
	rows, err := db.readPool.Query(ctx, listMails, pgID(f.Platform.UUID()), string(f.Status), f.Limit)
	if err != nil {
		return nil, err
	}
	var listed []ports.ListedMail
	return listed, forEachRow(rows, func(rows pgx.Rows) error {
		var m ports.ListedMail
		var platformID uuid.UUID
		var ended *time.Time
		err := rows.Scan((*[16]byte)(&platformID), (*[16]byte)(&m.ID), &m.Kind, &m.Status, &m.Reason, &m.CreatedAt, &m.ExpiresAt, &ended)
		m.Platform.SetUUID(platformID)
		m.CreatedAt, m.ExpiresAt, m.At = m.CreatedAt.UTC(), m.ExpiresAt.UTC(), timeOrZero(ended)
		listed = append(listed, m)
		return err
	})
}

// countWaitingMails uses mails_waiting.
const countWaitingMails = `
	SELECT count(*), min(w.created_at) FROM platforms p CROSS JOIN LATERAL (
		SELECT created_at FROM mails WHERE platform_id = p.id AND status = 'WAITING' ORDER BY created_at LIMIT $1) AS w`

// WaitingMails implements ports.MailReader.
func (db *DB) WaitingMails(ctx context.Context, limit int) (n int, oldest time.Time, err error) {
	var created *time.Time
	err = db.readPool.QueryRow(ctx, countWaitingMails, limit).Scan(&n, &created)
	return n, timeOrZero(created), err
}
