package ports

import (
	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/period"
	"causeway/core/requestlog"
)

// RequestLogFilter selects entries of the log of requests. All that is set must match.
type RequestLogFilter struct {
	Paging
	Statuses       []requestlog.StatusRange // one of them
	Method         string
	Operation      string
	PathPrefixes   []string // one of them
	RequestID      uuid.UUID
	IdempotencyKey string
	// Subjects are what was made or changed, one of them. MaxRead has no effect then.
	Subjects []uuid.UUID
	Token    ident.Token
	Agent    ident.Agent
	Arrived  period.Interval
}
