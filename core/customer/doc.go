// Package customer defines the customers of a platform: persons and businesses, their data,
// the status of their verification, and whether they may move money.
//
// It checks requests and statuses, and never verifies anyone.
package customer
