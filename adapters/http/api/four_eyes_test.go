package api_test

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestFourEyes_EveryChangeOfTheBooks(t *testing.T) {
	t.Parallel()
	// Every request that changes the books can make a proposal, but for these, which docs/books.md names.
	exempt := map[string]string{
		"approveLedgerProposal":         "is the approval",
		"rejectLedgerProposal":          "changes nothing",
		"createReconciliation":          "compares a statement, and posts nothing",
		"makeGLJournals":                "posts nothing",
		"runSafeguardingReport":         "posts nothing",
		"acknowledgeSafeguardingReport": "posts nothing",
		"recordReceivable":              "says what a partner did, for at most what was collected",
	}
	var document struct {
		Paths map[string]map[string]struct {
			OperationID string
			Tags        []string
			Responses   map[string]any
		}
	}
	if err := json.Unmarshal(fetchOpenAPI(t), &document); err != nil {
		t.Fatal(err)
	}

	proposable := 0
	for path, item := range document.Paths {
		for method, operation := range item {
			if method == "get" || !slices.Contains(operation.Tags, "Ledger") {
				continue
			}
			_, proposes := operation.Responses["202"]
			_, isExempt := exempt[operation.OperationID]
			delete(exempt, operation.OperationID)
			switch {
			case proposes && isExempt:
				t.Errorf("%s makes proposals, and is exempt", operation.OperationID)
			case !proposes && !isExempt:
				t.Errorf("%s (%s %s) changes the books and makes no proposal", operation.OperationID, method, path)
			case proposes:
				proposable++
			}
		}
	}
	for operation := range exempt {
		t.Errorf("%s is exempt and does not exist", operation)
	}
	if proposable < 20 {
		t.Errorf("only %d operations make proposals: the test reads the description wrongly", proposable)
	}
}
