// Package main is read by swag.
//
// @title orders
package main

import "github.com/shardsnow/snow"

type Order struct {
	ID     snow.ID  `json:"id" swaggertype:"string" example:"286467607756828714"`
	Parent *snow.ID `json:"parent"`
}

// @Success 200 {object} Order
// @Router  /orders [get]
func main() {}
