package postgres

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/postgres/schema"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/requestlog"
	"causeway/ports"
)

// requestLog is the table request_log.
var requestLog = schema.New("request_log", keyOfPlatform, func(e *requestlog.Entry) schema.Columns {
	return schema.Columns{
		{Name: "platform_id", Field: &e.Platform}, {Name: "id", Field: &e.ID}, {Name: "token_id", Field: &e.Token},
		{Name: "agent_id", Field: &e.Agent}, {Name: "arrived_at", Field: &e.ArrivedAt},
		{Name: "duration_us", Field: schema.Converted(e.Duration.Microseconds, func(us int64) error {
			e.Duration = time.Duration(us) * time.Microsecond
			return nil
		})},
		{Name: "method", Field: &e.Method}, {Name: "operation", Field: &e.Operation}, {Name: "route", Field: &e.Route},
		{Name: "path", Field: &e.Path}, {Name: "query", Field: &e.Query}, {Name: "status", Field: &e.Status}, {Name: "code", Field: &e.Code},
		{Name: "message", Field: &e.Message}, {Name: "request_id", Field: &e.RequestID},
		{Name: "idempotency_key", Field: &e.IdempotencyKey}, {Name: "replayed", Field: &e.Replayed},
		{Name: "request_type", Field: &e.Request.Type}, {Name: "request_size", Field: &e.Request.Size},
		{Name: "request_body", Field: &e.Request.Body}, {Name: "request_cut", Field: &e.Request.Cut},
		{Name: "response_type", Field: &e.Response.Type}, {Name: "response_size", Field: &e.Response.Size},
		{Name: "response_body", Field: &e.Response.Body}, {Name: "response_cut", Field: &e.Response.Cut},
		{Name: "lost_before", Field: &e.LostBefore}, {Name: "subject_id", Field: schema.Optional(&e.Subject)},
	}
})

// requestLogLines are the entries without bodies, which are long.
var requestLogLines = requestLog.Only("platform_id", "id", "token_id", "agent_id", "arrived_at", "duration_us", "method", "operation",
	"route", "path", "query", "status", "code", "message", "request_id", "idempotency_key", "replayed", "request_type", "request_size",
	"response_type", "response_size", "lost_before", "subject_id")

var insertRequestLog = requestLog.InsertAll("ON CONFLICT (platform_id, id) DO NOTHING")

// SaveRequestLog inserts entries. Those that it has already are skipped, because a commit may succeed without an answer.
func (u *Unit) SaveRequestLog(ctx context.Context, entries []requestlog.Entry) error {
	return writeAll(ctx, u, insertRequestLog, entries)
}

// RequestLogEntry uses the primary key.
func (db *DB) RequestLogEntry(ctx context.Context, p ident.Platform, id ident.RequestLog) (requestlog.Entry, error) {
	none := fault.New(fault.NotFound, "There is no entry %s in the log of requests, or it was deleted with age.", id)
	return selectExisting(ctx, db, db.queryRows, requestLog, none, `WHERE platform_id = $1 AND id = $2`, p, id)
}

// maxRequestDuration is more than any request lasts, and waits to be written. The id of an entry begins with the time at which it
// was written.
const maxRequestDuration = time.Hour

// RequestLog uses the first of request_log_by_subject, request_log_by_request, request_log_by_key, request_log_server_failed,
// request_log_by_operation and request_log_failed that finds the rows of the filter, or the primary key.
func (db *DB) RequestLog(ctx context.Context, p ident.Platform, f ports.RequestLogFilter) (ports.Page[requestlog.Entry], error) {
	l := newJoinedList("request_log AS t", "t", p)
	find := l.byIndex
	byIndex := func(text string, args ...any) {
		find(text, args...)
		find = l.where
	}
	slices.SortFunc(f.Subjects, func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) })
	for _, id := range slices.Compact(f.Subjects) {
		l.alternatives = append(l.alternatives, condition{"subject_id = ?", []any{id}})
		find, f.MaxRead = l.where, 0
	}
	if f.RequestID != uuid.Nil {
		byIndex("request_id = ?", f.RequestID)
	}
	if f.IdempotencyKey != "" {
		byIndex("idempotency_key = ? AND idempotency_key <> ''", f.IdempotencyKey)
	}
	if len(f.PathPrefixes) > 0 {
		prefixes := make([]condition, len(f.PathPrefixes))
		for i, prefix := range f.PathPrefixes {
			prefixes[i] = condition{"starts_with(path, ?)", []any{prefix}}
		}
		matches := joined(prefixes, " OR ")
		l.where(matches.text, matches.args...)
	}
	lowest := 0
	if len(f.Statuses) > 0 {
		ranges := make([]condition, len(f.Statuses))
		for i, r := range f.Statuses {
			ranges[i] = condition{"status BETWEEN ? AND ?", []any{r.From, r.To}}
		}
		matches := joined(ranges, " OR ")
		l.where(matches.text, matches.args...)
		lowest = slices.MinFunc(f.Statuses, func(a, b requestlog.StatusRange) int { return a.From - b.From }).From
	}
	if lowest >= http.StatusInternalServerError {
		byIndex("status >= 500")
	}
	if f.Operation != "" {
		byIndex("operation = ?", f.Operation)
	}
	if lowest >= http.StatusBadRequest {
		byIndex("status >= 400")
	}
	l.whereEqual("method", f.Method)
	if !f.Token.IsZero() {
		l.where("token_id = ?", f.Token)
	}
	if !f.Agent.IsZero() {
		l.where("agent_id = ?", f.Agent)
	}
	l.whereInInterval("arrived_at", f.Arrived)
	written := f.Arrived
	if !written.To.IsZero() {
		written.To = written.To.Add(maxRequestDuration)
	}
	from, to := idsCreatedIn(written)
	l.byIndex("id >= ? AND id <= ?", from, to)
	return selectPage(ctx, db, l, f.Paging, requestLogLines)
}
