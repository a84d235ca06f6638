package outbox

import (
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/period"
	"causeway/ports"
)

// The state of a delivery: pending if it is in the queue or the backlog, else the result of
// its last attempt. Each join uses a primary key.
const (
	selectDelivery = `
SELECT e.platform_id, e.id, e.subject_id, e.type, e.name, e.created_at,
       (q.seq IS NOT NULL OR b.seq IS NOT NULL) AS waiting, b.next_attempt_at, coalesce(last.outcome, '') AS outcome`
	fromEvents = `
FROM webhook_events e`
	joinState = `
LEFT JOIN webhook_queue q ON q.platform_id = e.platform_id AND q.seq = e.seq
LEFT JOIN webhook_backlog b ON b.platform_id = e.platform_id AND b.seq = e.seq
LEFT JOIN LATERAL (
    SELECT a.outcome, a.attempt_no FROM webhook_attempts a WHERE a.platform_id = e.platform_id AND a.event_id = e.id
    ORDER BY a.attempt_no DESC LIMIT 1) last ON true`

	// Pending and failed deliveries are few among all, so these queries begin with them. Failed ones are read in their order, as far
	// as a page needs them: while an endpoint is down, there are many.
	fromPending = `
FROM (SELECT platform_id, event_id FROM webhook_queue WHERE platform_id = $1
      UNION SELECT platform_id, event_id FROM webhook_backlog WHERE platform_id = $1) pending
JOIN webhook_events e ON e.platform_id = pending.platform_id AND e.id = pending.event_id`
	fromFailed = `
FROM (SELECT platform_id, event_id, attempt_no FROM webhook_attempts WHERE platform_id = $1 AND given_up) given_up
JOIN webhook_events e ON e.platform_id = given_up.platform_id AND e.id = given_up.event_id`

	isDelivered = `last.outcome IN ('ACCEPTED', 'DUPLICATE')`
)

// listSQL returns the query for one page and one more row. Ids contain their time, so a page
// is a range of the primary key, also with a filter by time.
func listSQL(p ident.Platform, f ports.DeliveryFilter) (string, []any) {
	c := conditions{id: "e.id"}
	c.add("e.platform_id = %s", p)
	from := fromEvents
	if f.Status == event.Pending {
		from = fromPending
	} else if f.Status == event.Failed {
		from, c.id = fromFailed, "given_up.event_id"
		c.clauses = append(c.clauses, "last.attempt_no = given_up.attempt_no")
	}
	c.addFilter(f)
	order, limit := "DESC", ""
	if f.Ascending {
		order = "ASC"
	}
	if f.Limit > 0 {
		limit = fmt.Sprintf(" LIMIT %d", f.Limit+1)
	}
	return selectDelivery + from + joinState + c.where() + " ORDER BY " + c.id + " " + order + limit, c.args
}

// conditions collects a WHERE clause and its arguments.
type conditions struct {
	id      string // the column of the id of events
	clauses []string
	args    []any
}

// add appends a condition; %s stands for its argument.
func (c *conditions) add(condition string, arg any) {
	c.args = append(c.args, arg)
	c.clauses = append(c.clauses, fmt.Sprintf(condition, fmt.Sprintf("$%d", len(c.args))))
}

func (c *conditions) where() string { return "\nWHERE " + strings.Join(c.clauses, " AND ") }

func (c *conditions) addFilter(f ports.DeliveryFilter) {
	if !f.After.IsZero() && f.Ascending {
		c.add(c.id+" > %s", f.After)
	} else if !f.After.IsZero() {
		c.add(c.id+" < %s", f.After)
	}
	if f.Type != "" {
		c.add("e.type = %s", f.Type)
	}
	if f.Name != "" {
		c.add("e.name = %s", f.Name)
	}
	if f.Subject != uuid.Nil {
		c.add("e.subject_id = %s AND e.subject_id <> e.id", f.Subject) // the condition of webhook_events_by_subject
	}
	c.addSpan(f.Created)
	c.addStatus(f.Status)
}

func (c *conditions) addStatus(s event.Status) {
	const idle = "q.seq IS NULL AND b.seq IS NULL"
	switch s {
	case event.Pending:
		c.clauses = append(c.clauses, "(q.seq IS NOT NULL OR b.seq IS NOT NULL)")
	case event.Delivered:
		c.clauses = append(c.clauses, idle, isDelivered)
	case event.Failed:
		c.clauses = append(c.clauses, idle, "last.outcome IS NOT NULL", "NOT "+isDelivered)
	case event.Unsent:
		c.clauses = append(c.clauses, idle, "last.outcome IS NULL")
	}
}

// maxIDClockSkew bounds the difference between the time in an id and the time of its event:
// ids created faster than the clock ticks run ahead of it.
const maxIDClockSkew = time.Minute

// addSpan filters by the event's time, and by its id so that the rest of the primary key is
// not read.
func (c *conditions) addSpan(span period.Interval) {
	if !span.From.IsZero() {
		c.add("e.created_at >= %s", span.From)
		c.add(c.id+" >= %s", minUUIDv7(span.From.Add(-maxIDClockSkew)))
	}
	if !span.To.IsZero() {
		c.add("e.created_at < %s", span.To)
		c.add(c.id+" <= %s", minUUIDv7(span.To.Add(maxIDClockSkew)))
	}
}

// minUUIDv7 returns the lowest UUIDv7 of a millisecond.
func minUUIDv7(t time.Time) (id uuid.UUID) {
	millis := uint64(max(t.UnixMilli(), 0))
	for i := range 6 {
		id[i] = byte(millis >> (40 - 8*i))
	}
	return id
}
