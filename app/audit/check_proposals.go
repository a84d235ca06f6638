package audit

import (
	"context"
	"fmt"

	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/ports"
)

// checkProposals checks that every change by a proposal was approved by a second person and has both persons of
// the proposal, and that every executed proposal has made a change. The zero platform stands for changes for all
// platforms.
func checkProposals(ctx context.Context, view ports.AuditView, report *Report, p ident.Platform) error {
	where := p.String()
	if p.IsZero() {
		where = "all platforms"
	}
	return view.ProposedChanges(ctx, p, func(c ports.AuditProposedChange) error {
		report.countChecked(RuleFourEyes)
		if err := checkProposedChange(c); err != nil {
			report.addFinding(RuleFourEyes, "on %s, %v", where, err)
		}
		return nil
	})
}

func checkProposedChange(c ports.AuditProposedChange) error {
	switch {
	case c.Change == "":
		return fmt.Errorf("%s (%s) is executed, and no change was made by it", c.Proposal, c.Operation)
	case c.Status == "":
		return fmt.Errorf("%s was approved, and there is no proposal of it", c.Change)
	case c.Status != proposal.Executed:
		return fmt.Errorf("%s was made by %s, which is %s", c.Change, c.Proposal, c.Status)
	case c.By != c.Proposer || c.ApprovedBy != c.Decider:
		return fmt.Errorf("%s was made by %s and approved by %s; %s was made by %s and approved by %s", c.Change, c.By, c.ApprovedBy, c.Proposal,
			c.Proposer, c.Decider)
	case c.By.Token == c.ApprovedBy.Token && (!c.By.Token.IsZero() || platform.IsSameActor(c.By.Actor, c.ApprovedBy.Actor)):
		return fmt.Errorf("%s was made and approved by one person, %s", c.Change, c.By)
	case !c.ChangePerson.IsZero() && c.ChangePerson != c.ProposerPerson:
		return fmt.Errorf("%s was made by the person %s; %s was proposed by %s", c.Change, c.ChangePerson, c.Proposal, c.ProposerPerson)
	case c.ProposerPerson == c.DeciderPerson && !c.DeciderPerson.IsZero():
		return fmt.Errorf("%s was proposed and approved by one person, %s", c.Change, c.DeciderPerson)
	}
	return nil
}
