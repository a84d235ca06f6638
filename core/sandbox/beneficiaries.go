package sandbox

import (
	"causeway/core/account"
	"causeway/core/fault"
)

// unknownAccountSuffix is the suffix of identifiers of accounts that do not exist.
const unknownAccountSuffix = "105"

var beneficiaryOutcomes = map[string]account.VerificationStatus{
	"102": account.NotMatched,
	"103": account.PartialMatch,
	"104": account.VerificationPending,
	"106": account.Unsupported,
	"107": account.CheckedByReceivingFI,
}

// BeneficiaryOutcome returns the result of verifying the beneficiary of an account with the
// identifier, or INVALID_BANK_ACCOUNT if there is no such account.
func BeneficiaryOutcome(identifier string) (account.VerificationStatus, error) {
	digits := suffix(identifier)
	if digits == unknownAccountSuffix {
		return account.NotVerified, fault.New(fault.InvalidBankAccount,
			"There is no such account at the receiving institution; check the account details and register it again.")
	}
	if status, ok := beneficiaryOutcomes[digits]; ok {
		return status, nil
	}
	return account.Matched, nil
}
