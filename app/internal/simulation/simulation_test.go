// Package simulation_test runs the use cases of payments of two platforms on a store in memory, with
// two processes that crash, clients that repeat requests, rails that answer late, twice or not at all,
// finance teams that close a month and assign unmatched money, and a clock that moves. Everything that
// happens, and its order, follows from a seed, so a run that fails is repeated exactly:
//
//	SIMULATION_SEED=42 go test ./app/internal/simulation
//
// Go's synctest stops the goroutines of a run at every call that leaves a process; the simulation
// then chooses which call happens next, and what becomes of it. Invariants are checked after every
// commit, and against what the rails have really done when nothing is left to do.
package simulation_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
)

// stepsPerSeed is the number of random decisions of a run.
const stepsPerSeed = 1000

func TestSimulation_InvariantsHold(t *testing.T) {
	t.Parallel()
	// Whatever fails and whatever order things happen in, money is neither lost nor made.
	// SIMULATION_STEPS is the number of decisions in all, and SIMULATION_SEED the seed of one run.
	if seed := number(t, "SIMULATION_SEED", 0); seed > 0 {
		simulate(t, seed)
		return
	}
	for seed := range number(t, "SIMULATION_STEPS", 5*stepsPerSeed) / stepsPerSeed {
		if simulate(t, seed+1); t.Failed() {
			return
		}
	}
}

func TestSimulation_SeedRepeatsRunExactly(t *testing.T) {
	t.Parallel()
	// Two runs with one seed take the same course, and one with another seed does not.
	seen := map[uint64]bool{}
	for seed := range uint64(10) {
		first, second := simulate(t, 2000+seed), simulate(t, 2000+seed)
		if first.hash != second.hash || seen[first.hash] {
			t.Errorf("seed %d: hashes %x and %x, want an equal and new one", 2000+seed, first.hash, second.hash)
		}
		seen[first.hash] = true
	}
}

func TestSimulation_ReachesEveryOutcome(t *testing.T) {
	t.Parallel()
	// The invariants are of little worth for what never happens.
	reached, seeds := map[string]int{}, map[string]int{}
	for seed := range uint64(100) {
		for outcome, n := range simulate(t, 1000+seed).outcomes() {
			reached[outcome] += n
			seeds[outcome]++
		}
	}
	t.Log(reached)
	for _, outcome := range []string{
		"payout COMPLETED", "payout FAILED", "payout EXPIRED", "payout to another provider COMPLETED", "payout to another provider FAILED",
		"payout to a customer COMPLETED", "payout to a customer FAILED", "deposit COMPLETED", "deposit FAILED",
		"deposit from another provider COMPLETED", "deposit from another provider FAILED",
		"invoiced payment COMPLETED", "invoiced payment FAILED", "invoiced payment that cannot be credited FAILED",
		"payout of a wallet COMPLETED", "payout of a wallet FAILED", "payout of a wallet EXPIRED", "payout to a wallet COMPLETED",
		"payout to a wallet FAILED",
		"closed month", "posting that is too late for its month", "assignment to a quote", "assignment to an account", "return to the payer",
		"assignment of a refund", "refund that is sent again",
		"action EXECUTE_QUOTE APPROVED", "action EXECUTE_QUOTE FAILED", "action EXECUTE_QUOTE REJECTED", "action TRANSFER_OUT APPROVED",
		"action TRANSFER_OUT FAILED", "action TRANSFER_OUT REJECTED",
		"action TRANSFER_IN APPROVED", "action TRANSFER_IN REJECTED", "payment of an agent that is given back", "attempt AGENT_PAUSED",
		"recall before the payout left", "recall after the payout left", "recall that a failed payout pays", "recall before the refund left",
		"recall before the send-back left", "recall after the refund failed", "cancelled payout", "cancelled collection",
		"cancellation while a wallet is debited", "refusal of a payment that was taken away",
		"payment DONE", "payment REFUSED", "payment RETURNED", "payment CANCELLED", "returned collection", "decision CANCEL", "decision RELEASE",
		"decision WITHDRAW", "decision MOVE", "decision CONFIRM_NOT_SENT", "payment that was not taken",
		"attempt PER_TRANSACTION_LIMIT", "attempt DAILY_LIMIT", "attempt DAILY_TRANSACTION_LIMIT", "attempt MONTHLY_LIMIT",
		"attempt APPROVAL_THRESHOLD", "attempt EXECUTION_MODE",
		"response TRANSACTION_SIZE_LIMIT_EXCEEDED", "response DAILY_VOLUME_LIMIT_EXCEEDED", "refund because of LIMIT_EXCEEDED",
		"payment that limits count", "payment that limits count no more",
		"payment that is AUTHORIZED", "payment that is EXEMPT", "payment that was not authorised", "wrong proof",
		"exemption LOW_VALUE", "exemption TRUSTED_BENEFICIARY", "proof for CURRENCY_CONVERSION", "proof for PAYOUT", "proof for TRANSFER",
		"proof with SMS_OTP", "proof with PASSKEY",
		"response ACCOUNT_LOCKED", "response SCA_SESSION_REQUIRED", "proof after another that was refused",
	} {
		if reached[outcome] == 0 {
			t.Errorf("no %s", outcome)
		}
	}
	if n := seeds["refund because of LIMIT_EXCEEDED"]; n < 5 {
		t.Errorf("%d runs refund because of LIMIT_EXCEEDED", n)
	}
}

// simulate runs one seed.
func simulate(t *testing.T, seed uint64) *world {
	t.Helper()
	var w *world
	synctest.Test(t, func(*testing.T) {
		w = newWorld(seed)
		w.run(stepsPerSeed)
	})
	if w.failure != "" {
		t.Errorf("seed %d: %s\nThe last steps:\n%s\nRepeat with SIMULATION_SEED=%d.", seed, w.failure, strings.Join(w.history, "\n"), seed)
	}
	return w
}

// number returns a number of the environment.
func number(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}
