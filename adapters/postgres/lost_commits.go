package postgres

import (
	"context"
	"fmt"
	"sync"
	"time"
	"unique"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"causeway/adapters/postgres/schema"
	"causeway/adapters/postgres/storage"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ledger"
	"causeway/ports"
)

// maxRemembered is how many commits a process remembers, in 8 MiB. A payment is about three postings and three events.
const maxRemembered = 1 << 17

// rememberedFor is how long a delivered event can be looked up: less than any retention of events.
const rememberedFor = 24 * time.Hour

// rememberedCommits are the last postings whose commit the database has confirmed to this process, and the last events that it has
// delivered. A database that does not have one of them has lost it.
type rememberedCommits struct {
	mu   sync.Mutex
	list []rememberedCommit
	next int // is overwritten next, once the list is full
}

// rememberedCommit is small, because there are many.
type rememberedCommit struct {
	platform    ident.Platform
	id          uuid.UUID // of the posting or the event
	transaction ident.Transaction
	event       unique.Handle[string] // its name; that of "" for a posting
	at          int64                 // Unix time in microseconds
}

// lost returns it as it is recorded.
func (c rememberedCommit) lost() ports.LostCommit {
	l := ports.LostCommit{Platform: c.platform, Kind: ports.LostPosting, Reference: c.id.String(), Transaction: c.transaction,
		CommittedAt: time.UnixMicro(c.at).UTC()}
	if name := c.event.Value(); name != "" {
		var webhook ident.Webhook
		webhook.SetUUID(c.id)
		l.Kind, l.Reference = ports.LostEvent, name+" "+webhook.String()
	}
	return l
}

func (r *rememberedCommits) add(commits ...rememberedCommit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range commits {
		if len(r.list) < maxRemembered {
			r.list = append(r.list, c)
			continue
		}
		r.list[r.next] = c
		r.next = (r.next + 1) % maxRemembered
	}
}

func (r *rememberedCommits) addPostings(postings []ledger.Posting, now time.Time) {
	commits := make([]rememberedCommit, len(postings))
	for i, p := range postings {
		commits[i] = rememberedCommit{platform: p.Platform, id: p.ID, transaction: p.Transaction, event: unique.Make(""), at: now.UnixMicro()}
	}
	r.add(commits...)
}

// RememberDelivery remembers an event that was delivered: a database that does not have it any more has lost it.
func (db *DB) RememberDelivery(w ports.QueuedWebhook) {
	c := rememberedCommit{platform: w.Platform, id: w.ID.UUID(), event: unique.Make(w.Name), at: db.clock.Now().UnixMicro()}
	if event.OfPayment(w.Name) {
		c.transaction.SetUUID(w.Subject)
	}
	db.remembered.add(c)
}

// lostCommitRows are lost commits as arguments; see lostCommitFields.
const lostCommitRows = `
	SELECT w.platform_id, w.kind, w.reference, w.transaction_id, w.committed_at
	FROM unnest($1::uuid[], $2::text[], $3::text[], $4::uuid[], $5::timestamptz[])
		AS w (platform_id, kind, reference, transaction_id, committed_at)`

// missingCommits uses the primary keys. A reference ends with the id. Its cast may fail, so that in a condition it would only be made
// behind those of row security, and no key be used.
const missingCommits = `
	WITH known AS MATERIALIZED (SELECT w.*, right(w.reference, 36)::uuid AS id FROM (` + lostCommitRows + `) AS w)
	SELECT w.platform_id, w.kind, w.reference, w.transaction_id, w.committed_at FROM known w
	WHERE w.kind = 'EVENT' AND NOT EXISTS (SELECT FROM webhook_events e WHERE e.platform_id = w.platform_id AND e.id = w.id)
	UNION ALL
	SELECT w.platform_id, w.kind, w.reference, w.transaction_id, w.committed_at FROM known w
	WHERE w.kind = 'POSTING' AND NOT EXISTS (SELECT FROM ledger_posting_ids p WHERE p.platform_id = w.platform_id AND p.id = w.id)`

// check records those that the database of a new connection does not have, and forgets all. It returns how many they are.
func (r *rememberedCommits) check(ctx context.Context, conn *pgx.Conn, clock ports.Clock) (lost int, err error) {
	r.mu.Lock()
	list := r.list
	r.list, r.next = nil, 0 // commits and deliveries do not wait for the look-up
	r.mu.Unlock()
	defer func() {
		if err != nil {
			r.add(list...)
		}
	}()
	deleted := clock.Now().Add(-rememberedFor).UnixMicro()
	var commits []ports.LostCommit
	for _, c := range list {
		if c.event.Value() == "" || c.at > deleted {
			commits = append(commits, c.lost())
		}
	}
	if len(commits) == 0 {
		return 0, nil
	}
	err = storage.New(conn, clock).InTx(ctx, func(tx storage.Tx) error {
		if _, err := tx.Exec(ctx, setPlatform, allPlatforms, true); err != nil {
			return err
		}
		missing, err := storage.Collect(ctx, tx.Read, missingCommits, schema.Arrays(commits, lostCommitFields), scanLostCommit)
		if err != nil || len(missing) == 0 {
			return err
		}
		lost = len(missing)
		return saveLostCommits(ctx, tx, missing, clock.Now())
	})
	return lost, err
}

func lostCommitFields(c *ports.LostCommit) []any {
	return []any{&c.Platform, &c.Kind, &c.Reference, &c.Transaction, &c.CommittedAt}
}

func scanLostCommit(rows pgx.Rows, c *ports.LostCommit) error {
	return rows.Scan(lostCommitFields(c)...)
}

const (
	insertLostCommitFinding = `INSERT INTO lost_commit_findings (noticed_at) VALUES ($1) RETURNING id`
	insertLostCommits       = `INSERT INTO lost_commits (platform_id, kind, reference, transaction_id, committed_at, finding_id)
	SELECT w.*, $6 FROM (` + lostCommitRows + `) AS w ON CONFLICT DO NOTHING`  // an event can have been delivered twice
)

// saveLostCommits records a finding. From its commit on nothing is posted, and after those that are leaving no payment leaves.
func saveLostCommits(ctx context.Context, tx storage.Tx, lost []ports.LostCommit, now time.Time) error {
	if _, err := tx.Exec(ctx, storage.LockPauses); err != nil {
		return err
	}
	var id int64
	if _, err := storage.ReadRow(ctx, tx.Read, insertLostCommitFinding, []any{now}, &id); err != nil {
		return err
	}
	_, err := tx.Exec(ctx, insertLostCommits, append(schema.Arrays(lost, lostCommitFields), id)...)
	return err
}

// newLostCommits are those of no finding. It uses the primary key.
const newLostCommits = lostCommitRows + `
	WHERE NOT EXISTS (SELECT FROM lost_commits c WHERE c.platform_id = w.platform_id AND c.kind = w.kind AND c.reference = w.reference)`

// SaveLostCommits records those that no finding has, and returns how many they are.
func (db *DB) SaveLostCommits(ctx context.Context, lost []ports.LostCommit) (added int, err error) {
	if len(lost) == 0 {
		return 0, nil
	}
	err = db.inTx(ctx, func(tx storage.Tx) error {
		unknown, err := storage.Collect(ctx, tx.Read, newLostCommits, schema.Arrays(lost, lostCommitFields), scanLostCommit)
		if added = len(unknown); err != nil || added == 0 {
			return err
		}
		return saveLostCommits(ctx, tx, unknown, db.clock.Now())
	})
	return added, translate(err)
}

// LostCommitFindings implements rails.LostCommitStore. It uses the primary keys.
func (db *DB) LostCommitFindings(ctx context.Context) ([]ports.LostCommitFinding, error) {
	return storage.Collect(ctx, db.read, `
		SELECT f.id, f.noticed_at, coalesce(r.reviewed_by, ''), coalesce(r.note, ''), r.reviewed_at,
			(SELECT count(*) FROM lost_commits c WHERE c.finding_id = f.id)
		FROM lost_commit_findings f LEFT JOIN lost_commit_reviews r ON r.finding_id = f.id ORDER BY f.id DESC`, nil,
		func(rows pgx.Rows, f *ports.LostCommitFinding) error {
			return rows.Scan(&f.ID, &f.NoticedAt, &f.ReviewedBy, &f.Note, &f.ReviewedAt, &f.Lost)
		})
}

// LostCommits implements rails.LostCommitStore.
func (db *DB) LostCommits(ctx context.Context, finding int64, limit int) ([]ports.LostCommit, error) {
	return storage.Collect(ctx, db.read, `SELECT platform_id, kind, reference, transaction_id, committed_at FROM lost_commits
		WHERE finding_id = $1 ORDER BY committed_at, platform_id, kind, reference LIMIT $2`, []any{finding, limit}, scanLostCommit)
}

// SaveLostCommitReview implements rails.LostCommitStore.
func (db *DB) SaveLostCommitReview(ctx context.Context, finding int64, by platform.Author, note string, now time.Time) error {
	return db.asOwner(ctx, "lost_commit_reviews", func(tx storage.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO lost_commit_reviews (finding_id, reviewed_by, note, reviewed_at, person_id)
			VALUES ($1, $2, $3, $4, $5)`, finding, by.Actor, note, now, by.Person)
		return err
	})
}

// postingsStopped returns the fault of a posting while lost commits are not reviewed, and nil for another error. Jobs wait meanwhile.
func postingsStopped(err *pgconn.PgError) error {
	if err.Code != "CW004" {
		return nil
	}
	return fmt.Errorf("%w (%w)", &fault.Error{Code: fault.ServiceUnavailable, Reason: "Payments stopped", RetryAfter: time.Minute,
		Message: "No money is moved, because the database has lost payments that were answered, and the operator has to look at it first. " +
			"Send the request again later with the same Idempotency-Key."}, ports.ErrStoreUnavailable)
}
