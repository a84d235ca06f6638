package postgres

import (
	"regexp"
	"strings"
	"testing"
)

func TestEraseWebhooks_FindsEventsBySubject(t *testing.T) {
	t.Parallel()
	// The events of a customer and of transactions are looked up by platform and subject, and updated by
	// platform and id, in every partition.
	plans := newPlanEnv(t)
	plans.becomeService()
	scan := regexp.MustCompile(`Scan.* on webhook_(events|attempts)`)
	for name, c := range map[string]struct {
		statement, column string
		arguments         int
	}{
		"transactions": {eventsOfTransactions, "subject_id", 2}, "customer": {eventsOfCustomer, "subject_id", 4},
		"bodies": {eraseEventBodies, "id", 3}, "responses": {eraseResponses, "event_id", 2},
	} {
		lines := plans.explain(name, c.statement, c.arguments)
		condition := regexp.MustCompile(`Index Cond: \(\(platform_id = .+ AND \(` + c.column + ` = `)
		scans := 0
		for i, line := range lines {
			if scan.MatchString(line) {
				scans++
				if i+1 == len(lines) || !condition.MatchString(lines[i+1]) {
					t.Errorf("%s: %s\n%s", name, line, strings.Join(lines, "\n"))
					break
				}
			}
		}
		if scans == 0 {
			t.Errorf("%s reads no events:\n%s", name, strings.Join(lines, "\n"))
		}
	}
}
