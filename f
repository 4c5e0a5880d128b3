DropQuery  t (children 1)
 Identifier t
