package audit

import (
	"strings"
	"testing"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

func TestCheckProposedChange(t *testing.T) {
	t.Parallel()
	// A change by a proposal is right with the two persons of an executed proposal. Everything else is named.
	var ana, ben platform.Author
	ana.Token.SetUUID(uuid.UUID{1})
	ben.Token.SetUUID(uuid.UUID{2})
	right := ports.AuditProposedChange{Operation: "createLedgerAdjustment", Status: proposal.Executed, Proposer: ana, Decider: ben,
		Change: "posting 7", By: ana, ApprovedBy: ben}
	operator := platform.Author{Actor: "ops"}
	var first, second ident.Person
	first.SetUUID(uuid.UUID{3})
	second.SetUUID(uuid.UUID{4})
	for name, test := range map[string]struct {
		change func(*ports.AuditProposedChange)
		want   string
	}{
		"right": {func(*ports.AuditProposedChange) {}, ""},
		"two persons": {func(c *ports.AuditProposedChange) {
			c.ProposerPerson, c.ChangePerson, c.DeciderPerson = first, first, second
		}, ""},
		"one person":      {func(c *ports.AuditProposedChange) { c.ProposerPerson, c.DeciderPerson = first, first }, "approved by one person"},
		"another person":  {func(c *ports.AuditProposedChange) { c.ProposerPerson, c.ChangePerson = first, second }, "made by the person"},
		"an older change": {func(c *ports.AuditProposedChange) { c.ProposerPerson, c.DeciderPerson = first, second }, ""},
		"two operators": {func(c *ports.AuditProposedChange) {
			c.By, c.Proposer = operator, operator
			c.ApprovedBy.Actor, c.Decider.Actor = "ana", "ana"
		}, ""},
		"no change":           {func(c *ports.AuditProposedChange) { c.Change = "" }, "no change was made"},
		"no proposal":         {func(c *ports.AuditProposedChange) { c.Status = "" }, "no proposal"},
		"a rejected proposal": {func(c *ports.AuditProposedChange) { c.Status = proposal.Rejected }, "REJECTED"},
		"another proposer":    {func(c *ports.AuditProposedChange) { c.By.Actor = "Carl" }, "was made by"},
		"named persons": {func(c *ports.AuditProposedChange) { c.By, c.ApprovedBy.Actor = operator, "Ben" },
			"posting 7 was made by operator ops and approved by Ben (Token:02000000-0000-0000-0000-000000000000); "},
		"a proposal of named persons": {func(c *ports.AuditProposedChange) { c.By, c.Decider = operator, operator },
			" was made by Token:01000000-0000-0000-0000-000000000000 and approved by operator ops"},
		"another approver": {func(c *ports.AuditProposedChange) { c.ApprovedBy.Token = ana.Token }, "approved by"},
		"one token":        {func(c *ports.AuditProposedChange) { c.ApprovedBy, c.Decider = ana, ana }, "one person"},
		"one operator": {func(c *ports.AuditProposedChange) {
			c.By, c.Proposer, c.ApprovedBy, c.Decider = operator, operator, operator, operator
		}, "one person"},
		"one operator, written otherwise": {func(c *ports.AuditProposedChange) {
			c.By, c.Proposer, c.ApprovedBy, c.Decider = operator, operator, platform.Author{Actor: "OPS "}, platform.Author{Actor: "OPS "}
		}, "one person"},
		"one token, another named": {func(c *ports.AuditProposedChange) {
			c.ApprovedBy.Token, c.ApprovedBy.Actor = ana.Token, "Ben"
			c.Decider = c.ApprovedBy
		}, "one person"},
	} {
		c := right
		test.change(&c)
		err := checkProposedChange(c)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", name, err, test.want)
		}
	}
}
