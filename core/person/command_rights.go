package person

import (
	"slices"
	"strings"

	"causeway/core/fault"
	"causeway/core/ident"
)

// CommandRight is the right that a person needs who runs a command after it has signed in on the command line.
type CommandRight struct {
	Command string
	Right   Right
	// OnPlatform: the right on the platform that the command names is enough. The others need it on all.
	OnPlatform bool
}

// CommandRights are those of all commands that record who runs them: where a page of the console does the same, that of the page.
var CommandRights = []CommandRight{
	{"corridors approve", ApproveBooks, false},
	{"corridors reject", ApproveBooks, false},
	{"corridors reset", KeepBooks, true},
	{"corridors set", KeepBooks, true},
	{"customers erase", ManageService, true},
	{"customers hold", Review, true},
	{"customers release", Review, true},
	{"customers sca approve", Review, true},
	{"customers sca reject", Review, true},
	{"customers sca unlock", Review, true},
	{"customers terms set", ManageService, false},
	{"customers vasps import", ManageService, false},
	{"documents show", ViewPersonalData, true},
	{"jobs discard", Operate, false},
	{"jobs retry", Operate, false},
	{"keys remove", ManageService, false},
	{"keys rotate", ManageService, false},
	{"ledger archive", ManageService, false},
	{"ledger assign", KeepBooks, true},
	{"ledger breaks resolve", KeepBooks, true},
	{"ledger chart add", KeepBooks, true},
	{"ledger chart change", KeepBooks, true},
	{"ledger close", KeepBooks, true},
	{"ledger close-year", KeepBooks, true},
	{"ledger defer-fees", KeepBooks, true},
	{"ledger gl-mapping set", KeepBooks, true},
	{"ledger journals", KeepBooks, true},
	{"ledger opening-balances", KeepBooks, true},
	{"ledger proposals approve", ApproveBooks, true},
	{"ledger proposals reject", ApproveBooks, true},
	{"ledger receivables post-allowance", KeepBooks, true},
	{"ledger receivables record", KeepBooks, true},
	{"ledger receivables write-off", KeepBooks, true},
	{"ledger reconcile", KeepBooks, true},
	{"ledger recurring end", KeepBooks, true},
	{"ledger recurring set", KeepBooks, true},
	{"ledger reopen", KeepBooks, true},
	{"ledger restore", ManageService, false},
	{"ledger revalue", KeepBooks, true},
	{"ledger reverse-opening-balances", KeepBooks, true},
	{"ledger reverse-year", KeepBooks, true},
	{"ledger rotate-key", ManageService, false},
	{"ledger safeguarding", KeepBooks, true},
	{"ledger settings set", KeepBooks, true},
	{"ledger soft-close", KeepBooks, true},
	{"ledger sweep", KeepBooks, true},
	{"ledger treasury arrive", KeepBooks, true},
	{"ledger treasury purpose", KeepBooks, true},
	{"ledger treasury settle", KeepBooks, true},
	{"ledger treasury transfer", KeepBooks, true},
	{"payouts cancel", DecidePayments, false},
	{"payouts mark-not-sent", DecidePayments, false},
	{"payouts move", DecidePayments, false},
	{"payouts release", DecidePayments, false},
	{"payouts withdraw", DecidePayments, false},
	{"people disable", ManagePeople, false},
	{"people invite", ManagePeople, false},
	{"people link", ManagePeople, false},
	{"people set-roles", ManagePeople, false},
	{"platform create", ManageService, false},
	{"platform limits clear", ManageService, true},
	{"platform limits set", ManageService, true},
	{"platform revoke-uma-keys", ManageService, true},
	{"platform set", ManageService, true},
	{"rails approve", ApproveBooks, false},
	{"rails balance", Operate, false},
	{"rails delete", Operate, false},
	{"rails inbox discard", Operate, false},
	{"rails pause", Operate, false},
	{"rails reject", ApproveBooks, false},
	{"rails resume", Operate, false},
	{"rails retire", Operate, false},
	{"rails set", Operate, false},
	{"rails statements discard", Operate, false},
	{"recover review", ManageService, false},
	{"reviews approve", Review, true},
	{"reviews clear", Review, true},
	{"reviews confirm", Review, true},
	{"reviews reject", Review, true},
	{"reviews request", Review, true},
	{"reviews show", ViewPersonalData, true},
	{"sandbox reset", ManageService, true},
	{"screening load", Review, false},
	{"token create", ManageTokens, true},
	{"token delete", ManageTokens, true},
	{"token set-responsible", ManageTokens, true},
	{"wallets show", ViewPersonalData, true},
	{"webhooks rotate-keys", ManageService, false},
}

// RolesWith returns the roles that have a right.
func RolesWith(right Right) (with []Role) {
	for _, r := range Roles {
		if r.Has(right) {
			with = append(with, r)
		}
	}
	return with
}

// CheckCommand returns FORBIDDEN if the roles of a person do not allow a command about a platform; zero for none that is named. A command
// that is not listed is allowed to nobody.
func (p Person) CheckCommand(command string, on ident.Platform) error {
	i := slices.IndexFunc(CommandRights, func(c CommandRight) bool { return c.Command == command })
	if i < 0 {
		return fault.New(fault.Forbidden, "No role allows `causeway %s`.", command)
	}
	needed := CommandRights[i]
	where := "for all platforms"
	if !needed.OnPlatform {
		on = ident.Platform{}
	} else {
		where += ", or for the one that --platform names"
	}
	if p.May(needed.Right, on) {
		return nil
	}
	var names []string
	for _, r := range RolesWith(needed.Right) {
		names = append(names, string(r))
	}
	f := fault.New(fault.Forbidden, "Your roles (%s) do not allow `causeway %s`. It needs the role %s, %s. An administrator gives it with "+
		"`causeway people set-roles`.", GrantTexts(p.Grants), command, strings.Join(names, " or "), where)
	f.Reason = "Role missing"
	return f
}
