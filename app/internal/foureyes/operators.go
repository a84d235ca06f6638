package foureyes

import (
	"fmt"
	"slices"
)

// OperatorOperation is an operation that an operator carries out alone.
type OperatorOperation struct {
	// ID is the id of the operation in the API, and Command the words of the command.
	ID, Command string
}

// OperatorOperations are all operations that an operator carries out by a command without the approval that the settings of the
// platform ask for: who has the database can change everything in it, so what is recorded is the name. One that always needs two
// persons needs them all the same, see Operation.TwoPersons. What is not listed here cannot pass four eyes.
var OperatorOperations = []OperatorOperation{
	{"resolveReconciliationBreak", "ledger breaks resolve"},
	{"softCloseLedgerPeriod", "ledger soft-close"},
	{"reopenLedgerPeriod", "ledger reopen"},
	{"closeLedgerPeriod", "ledger close"},
	{"postExchangeResult", "ledger revalue"},
	{"postDeferredFees", "ledger defer-fees"},
	{"postReceivablesAllowance", "ledger receivables post-allowance"},
	{"closeLedgerYear", "ledger close-year"},
	{"reverseLedgerYear", "ledger reverse-year"},
	{"writeOffReceivable", "ledger receivables write-off"},
	{"createSweep", "ledger sweep"},
	{"createTreasuryTransfer", "ledger treasury transfer"},
	{"arriveTreasuryTransfer", "ledger treasury arrive"},
	{"createTreasurySettlement", "ledger treasury settle"},
	{"setSafeguardingAccountPurpose", "ledger treasury purpose"},
	{"setRecurringAdjustment", "ledger recurring set"},
	{"addLedgerAccount", "ledger chart add"},
	{"changeLedgerAccount", "ledger chart change"},
	{"setGLMapping", "ledger gl-mapping set"},
	{"importOpeningBalances", "ledger opening-balances"},
	{"reverseOpeningBalances", "ledger reverse-opening-balances"},
	{"setLedgerSettings", "ledger settings set"},
}

// checkAlone returns an error for an operation that no operator may carry out alone.
func checkAlone(id string) error {
	if !slices.ContainsFunc(OperatorOperations, func(o OperatorOperation) bool { return o.ID == id }) {
		return fmt.Errorf("the operation %s is not one that an operator carries out alone", id)
	}
	return nil
}
